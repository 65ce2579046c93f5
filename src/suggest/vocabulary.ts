import type { ResourceName } from '../resources/spec.js';

/**
 * What people call the fields, beside their names, aliases and labels: English, then German, French, Spanish and
 * Portuguese.
 * A phrase means the field for certain; `?` before it: likely, so it is mapped and marked; `-`: perhaps, so it is shown
 * and not mapped; `*`: likely also as the end of a longer heading. Phrases are separated by semicolons. A table of data, hence the length.
 */
type Vocabulary = Readonly<Record<string, string>>;

/** Words that name the resource itself: `Vendor City` in a list of suppliers is the city. */
export const RESOURCE_WORDS: Readonly<Record<ResourceName, string>> = {
  asset:
    'ci configuration system chassis fixed asset equipment item device hardware inventory machine product computer laptop notebook gerat anlage actif activo equipo equipement appareil materiel equipamento ativo bem handset vehicle printer server workstation tablet',
  contract:
    'lease subscription licence license wartungsvertrag mietvertrag leasingvertrag contract agreement vertrag contrat contrato',
  supplier:
    'supplier vendor company organisation factory facility contractor lieferant lieferanten fournisseur proveedor fornecedor firm firma',
  customer: 'customer client company organisation account kunde kunden cliente',
};

/** Words that change nothing about what a column holds. */
export const PLAIN_QUALIFIERS = `
  official primary main full legal current standard text field info detail data master default basic corporate
  registered internal billing remit remittance mailing hq headquarter netto brutto ht ttc usd eur euro gbp sterling
  fulfillment fulfilment postal principal external 1 pound dollar chf aed cad aud inr jpy pln sek nok dkk zar`;

/** Words that make another thing of whatever stands beside them. */
export const OTHER_THINGS: ReadonlySet<string> = new Set(
  'previous old former parent related new other next last prior replaced manager docking monitor keyboard charger calibration planned estimated expected proposed trial'.split(
    ' ',
  ),
);

/** Abbreviations in headings, each with what it stands for. */
export const ABBREVIATIONS: ReadonlyMap<string, readonly string[]> = new Map(
  phrases(`
    acct account; acq acquisition; addr address; adr address; amt amount; asst asset; bldg building; bldng building;
    cat category; acquis acquisition; inv inventory; cntr contract; cntry country; co company; contr contract; ctry country; curr currency; cust customer;
    dept department; desc description; descr description; dob birth date; dt date; eff effective; equip equipment; exp
    expiry; expiration expiry; expires expiry; flr floor; hw hardware; loc location; mail email; maint maintenance;
    manuf manufacturer; mdl model; mfg manufacturer; mfgr manufacturer; mfr manufacturer; mob mobile; nbr number; nm name; mtl monatlich; one 1; two 2; till until; no
    number; nr number; nro number; num number; numero number; nummer number; org organisation; organization
    organisation; pct percent; ph phone; qnty quantity; qty quantity; quant quantity; ref reference; rm room; ser
    serial; sn serial number; str strasse; subcat subcategory; svc service; tel phone; telefon phone; telefone phone; telefono phone;
    telephone phone; tlf phone; val value; vend vendor; warr warranty; wty warranty`).map((entry) => {
    const [short, ...long] = entry.split(' ');
    return [short!, long];
  }),
);

/** Words of other languages and of everyday use for the values of a list, by field; each means one value and no other. */
export const VALUE_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  status: {
    active: 'live; current; valid; running; in effect; aktiv; laufend; actif; en vigueur; activo; ativo; vigente',
    archived: 'archiviert; archive; archivado',
    cancelled: 'storniert; annule; cancelado; anulado',
    draft: 'entwurf; brouillon; borrador; rascunho',
    expired: 'lapsed; abgelaufen; expire; vencido; caducado; encerrado',
    suspended: 'on hold; ausgesetzt; suspendu; suspendido',
    terminated: 'gekundigt; resilie; rescindido',
  },
  contract_type: {
    buy_side: 'buying; purchasing; inbound; einkauf; einkaufsvertrag; achat; compra',
    sell_side: 'selling; outbound; verkauf; verkaufsvertrag; vente; venta',
  },
  warranty_type: { none: 'without; keine; aucune; ninguna', oem: 'original manufacturer; hersteller' },
  support_type: { none: 'without; keine; aucun; ninguno', oem: 'original manufacturer; hersteller' },
  'expenditure_type.type': { capex: 'investition; investissement', opex: 'betrieb; exploitation' },
  end_of_term_clause: {
    auto_renewed: 'yes; true; auto; automatic; auto renew; renews; ja; oui; si; sim; verlangert sich',
    auto_expires: 'no; false; fixed; manual; expires; nein; non; nao; endet',
  },
  financing: { leased: 'leasing; gemietet', self_paid: 'cash; own fund; eigenmittel' },
  'contact_person.type': {
    sales: 'vertrieb',
    billing: 'accounts; buchhaltung; invoices',
    technical: 'it; technik; technique',
  },
};

/** What is no place: the state of a thing, a rank, a sales region. `State`, `Level` and `Region` mean either. */
export const NO_PLACES = `
  active; inactive; in use; in stock; in repair; in service; available; assigned; deployed; retired; disposed; scrapped;
  broken; spare; stock; lost; new; used; good; fair; poor; open; closed; yes; no; high; medium; low; critical; aktiv;
  inaktiv; in betrieb; lager; defekt; ausgemustert; en service; en stock; hors service; reforme; actif; inactif; rebut;
  activo; baja; almacen; bueno; malo; emea; apac; amer; latam; dach; global`;

/** The phrases of an entry, one blank between their words. */
export function phrases(entry: string): string[] {
  return entry
    .split(';')
    .map((phrase) => phrase.replace(/\s+/g, ' ').trim())
    .filter((phrase) => phrase !== '');
}

const LOCATION: Vocabulary = {
  city: `
    city name; town; municipality; locality; town city; ort; stadt; ville; ciudad; localidad; commune; poblacion;
    ?suburb; ?post town; ?wohnort; ?municipio; cidade; ?municipio; localidade; ?city town village locality; *city`,
  country: `
    country name; country code; nation; land; landercode; lander; pays; pais; iso country; iso country code; country
    iso; ?country region; ?herkunftsland; country key; *country; *country code`,
  state_province: `
    state or province; state; province; state code; bundesland; provincia; departement; prefecture; ?county; ?region;
    ?kanton; ?comunidad autonoma; ?estado provincia; ?state region; ?canton; ?state county; ?site state; ?etat
    province; uf; ?distrito; ?region code; ?province code; *state province; ?st`,
};

const ASSET: Vocabulary = {
  ...LOCATION,
  name: `
    asset; item; item name; equipment; equipment name; device; device name; asset name; hostname; host name; computer
    name; machine name; bezeichnung; gerat; geratename; anlagenbezeichnung; nom; designation; nombre; nombre del
    activo; nombre del equipo; denominacion; libelle; ?product name; ?product; ?title; ?asset description; ?equipment
    description; display name; system name; node name; dns name; ci name; configuration item; nom appareil; nom
    equipement; nom materiel; inventargegenstand; gegenstand; ?computer; ?server; ?workstation; ?nom article;
    ?artikelbezeichnung; ?objet; ?materiel; ?articulo; ?article; ?item description; ?objektbezeichnung; ?software;
    ?software name; ?application; ?license name; ?description; ?descripcion; ?beschreibung; nome; nome do bem; nome do
    ativo; nome do equipamento; ?bem; ?equipamento; ?ativo; ?descricao; ?descricao do bem; ?geratebezeichnung; ?netbios
    name; ?key field; designation bien; ?nom du bien; ?net name; ?network name`,
  manufacturer: `
    manufacturer; maker; brand; manufacturer name; oem; hersteller; marke; fabricant; marque; fabricante; marca; ?make;
    brand name; make manufacturer; producer; constructeur; ?geratehersteller; ?publisher; ?software publisher;
    ?hersteller name; *manufacturer; make name`,
  serial_number: `
    serial; serial number; serial id; serialnumber; serial code; seriennummer; fabriknummer; numero de serie; service
    tag; ?service tag number; serial s n; factory number; geratenummer serial; ?serie; ?vin; ?fahrgestellnummer;
    ?chassis number; ?fabrikationsnummer; ?numero de chassis; *serial number; numero serie; numero de serie; ?fin;
    ?fahrzeugidentifikationsnummer; ?numero chassi; -imei; -imei number`,
  pseudo_number: 'pseudo number; pseudo serial number',
  asset_tag: `
    asset tag; tag number; tag; asset tag number; property tag; inventory tag; barcode; inventarnummer; numero de
    inventario; numero d inventaire; etiquette; etiqueta; ?asset number; ?asset id; ?asset code; ?equipment number;
    ?equipment id; ?property number; ?anlagennummer; ?codigo de activo; ?numero de activo; tag id; asset label; code
    inventaire; code barre; ?fixed asset number; ?equipment code; ?item code; ?inventory id; ?inventory code; ?numero
    interne; ?id interne; ?property id; ?kennzeichen; ?license plate; ?plate number; -device id; -item id; -codigo;
    -code; ?anlage; ?geratenummer; ?immatriculation; ?matricula; *asset tag; patrimonio; numero patrimonio; etiqueta
    patrimonial; ?plaqueta; ?tombo; ?tombamento; ?numero tombo; ?fleet number; ?registration; ?registration number;
    ?numero immobilisation; ?immobilisation number; ?identifier; *asset number; *asset id; ?internal number`,
  lifecycle_stage: `
    lifecycle stage; life cycle stage; lifecycle; lifecycle status; stage; ?status; ?asset status; ?state of life;
    ?zustand; ?statut; ?estado; ?condition; ?disposition; ?install status; ?installation status; ?device status;
    ?equipment status; ?item status; ?operational status; ?current status; ?asset state; ?lifecycle state; ?deployment
    status; ?etat; ?betriebsstatus; ?status equipment; ?state; ?situacao; ?estado conservacao; ?estado de conservacao;
    ?working status; ?functional status; ?funktionsstatus; ?asset condition`,
  product_description: `
    product description; ?model; ?model name; ?description; ?item description; ?asset description; ?product; ?product
    name; ?modell; ?modele; ?modelo; ?beschreibung; ?descripcion; ?specification; ?hardware model; ?computer model;
    ?product model; ?equipment model; ?device model; ?model description; ?make model; ?modellbezeichnung;
    ?typbezeichnung; ?produktbezeichnung; ?produkt; ?produit; ?model type; ?modellname; ?nom du modele; ?nombre del
    modelo; ?descricao; ?handset model; ?typ modell; *model name`,
  asset_notes: `
    note; remark; comment; bemerkung; kommentar; notiz; anmerkung; remarque; commentaire; nota; comentario;
    observacion; ?asset comment; ?description; ?beschreibung; ?descripcion; ?information; ?info; ?additional
    information; ?additional note; ?detail; ?observation; ?hinweis; ?notizen; ?asset description; observacoes; ?obs;
    comentarios; ?descricao`,
  asset_hardware_model: 'hardware model id; asset hardware model',
  manufacturer_part_number: `
    manufacturer part number; mpn; part number; teilenummer; numero de piece; numero de parte; artikelnummer; ?model
    number; ?sku; ?article number; ?product number; ?product code; manufacturer number; ?model code; ?reference
    fabricant; ?reference constructeur; ?herstellernummer; ?hersteller artikelnummer`,
  parent_manufacturer_part_number: 'parent part number',
  parent_serial_number: 'parent serial; parent asset serial number; parent serial no',
  customer_part_number: 'customer part number; customer item number; cpn',
  business_entity_type: 'business entity; legal entity',
  make: 'make id',
  inventory_no: 'inventory number',
  mac_address: `
    mac; mac address; ethernet address; mac adresse; adresse mac; direccion mac; mac id; ethernet mac; wifi mac;
    wireless mac; wlan mac; lan mac`,
  asset_physical_location: 'physical location',
  contract: `
    contract; contract number; agreement number; vertrag; vertragsnummer; contrat; numero de contrat; contrato; numero
    de contrato; ?contract reference; ?contract id; ?support contract; ?maintenance contract; ?support contract number;
    ?maintenance contract number; ?service contract; ?lease number; ?lease contract; ?wartungsvertrag; ?contrat de
    maintenance; -smartnet number`,
  'category.name': `
    category; category name; asset category; asset class; kategorie; categorie; categoria; ?asset type; ?equipment
    type; ?device type; ?item type; ?asset group; ?equipment category; ?item category; ?product category; ?type;
    ?hardware type; ?computer type; ?hardware category; ?gerateklasse; ?geratetyp; ?anlagenklasse; ?gerateart; ?type
    materiel; ?type equipement; ?type appareil; ?famille; ?tipo de equipo; ?objekttyp; ?object type; -class; -license
    type; *category name; *class name; ?tipo; ?tipo equipamento; ?model category; ?chassis type; ?group; ?form factor;
    ?nature; ?nature materiel; ?bauart; ?modality; ?modality class; ?gruppe; ?warengruppe; ?asset family`,
  'category.subcategory': `
    subcategory; sub category; sub; subcategory name; unterkategorie; sous categorie; subcategoria; ?subclass; ?sub
    type; ?subtype; ?sub class; ?device subtype; ?sous famille; *subcategory name; *class name; ?sub group; ?subgroup`,
  asset_owner: `
    owner; asset owner; owner name; owner email; eigentumer; besitzer; proprietaire; propietario; responsible;
    responsible person; custodian; verantwortlicher; ?assigned to; ?assigned user; ?user; -user name; ?employee;
    ?benutzer; ?utilisateur; ?usuario; ?held by; owned by; asset custodian; detenteur; inhaber; ?full name; ?employee
    name; ?employee full name; ?user full name; ?assigned employee; ?assignee; ?issued to; ?allocated to; ?allocated
    user; ?primary user; ?current user; ?assigned person; ?in use by; ?used by; ?mitarbeiter; ?nutzer; ?zugewiesen;
    ?affecte a; ?attribue a; ?responsable; ?user email; ?employee email; ?assigned email; -name; -agent; ?checked out
    to; ?checked out; ?usager; ?fahrer; ?driver; ?primary user email; ?primary user email address; ?assigned user name;
    ?conducteur; ?conductor; responsavel; proprietario; ?detentor; ?usuario; ?utilizador; ?colaborador; ?funcionario;
    verantwortliche person; ?last logon user; ?last user; ?last logged on user; affectataire; ?user fullname; ?nutzer
    name; -contact; zugeordnete person; ?zugeordnet; ?person; ?entleiher; ?ausleiher; ?borrower`,
  business_unit: `
    business unit; bu; geschaftsbereich; unite commerciale; unidad de negocio; ?department; ?division; ?abteilung;
    ?departement; ?departamento; -cost centre; -cost center; -kostenstelle; -service; -company; -home unit`,
  attached_supplier: `
    supplier; supplier name; vendor; vendor name; lieferant; fournisseur; proveedor; ?purchased from; ?reseller;
    ?seller; ?bought from; ?dealer; supplied by; supplier vendor; ?procured from; ?bought at; ?revendeur;
    ?distributeur; ?distributor; ?bezugsquelle; ?handler; ?leasinggeber; ?lessor; ?vendor supplier; ?handler name;
    ?loueur; fornecedor; nome do fornecedor; ?leasing company; *supplier; *vendor; ?sold by`,
  customer: 'customer; customer name; client; client name; kunde; kundenname; cliente',
  usage_status: 'usage status; usage; use status; asset usage status; nutzungsstatus',
  address: `
    address; street address; full address; site address; adresse; anschrift; direccion; domicilio; ?address line 1;
    ?address 1; endereco; morada`,
  zip_code: `
    zip; zip code; postal code; postcode; post code; plz; postleitzahl; code postal; codigo postal; cp; ?zip postal;
    cep`,
  location_description: `
    location description; location note; ?location; ?site; ?site name; ?standort; ?emplacement; ?ubicacion; ?lieu;
    ?lagerort; ?asset location; ?current location; ?equipment location; ?device location; ?item location; ?office
    location; ?building location; ?location name; ?site location; ?lagerplatz; ?aufstellungsort; ?localisation;
    ?physical site; ?place; ?storage location; ?aufstellort; ?office; ?localizacao; ?depot; ?ad site; ?standort raum;
    ?install location; ?installed location; *location; ?location label; ?branch; ?filiale`,
  asset_location_address: 'asset location address; location address; installation address',
  bldg_name: `
    building; building name; gebaude; batiment; edificio; ?building number; ?site building; ?campus building; ?haus;
    ?gebaudeteil; predio; ?bloco`,
  floor:
    'floor; storey; floor number; etage; stockwerk; geschoss; piso; planta; ?floor level; ?geschosse; ?level; andar',
  unit: 'unit; unit number; suite; apartment',
  room: `
    room; room number; room name; raum; raumnummer; zimmer; salle; sala; habitacion; ?lab; ?bureau; ?room location;
    ?office number; ?buro; ?local; ?laboratory; ?raumbezeichnung; ?office; -piece; ?aula; zimmer number; ?despacho`,
  street: 'street; street name; strasse; rue; calle; ?road',
  area: 'area; bereich; -zone',
  general_info_notes: 'general information; general note; general info',
  warranty_status: 'warranty status; in warranty; under warranty; ?warranty',
  warranty_type:
    'warranty type; type of warranty; garantietyp; garantieart; type de garantie; tipo de garantia; ?warranty',
  warranty_provider:
    'warranty provider; warranty vendor; warranty supplier; garantiegeber; ?warranty company; ?warranty by',
  end_of_life_date: `
    end of life; eol date; lebensende; fin de vie; ?retirement date; ?planned retirement; ?disposal date; ?retire date;
    ?replacement date; ?date retired; ?expected replacement date; ?ausmusterung; ?date de fin de vie; ?fecha baja;
    ?deaktivierung; *end of life date; *end of life`,
  warranty_start_date: `
    warranty start; warranty from; warranty begin; warranty start date; garantiebeginn; garantie von; debut de
    garantie; inicio de garantia`,
  warranty_end_date: `
    warranty end; warranty until; warranty expiry; warranty expiry date; warranty end date; warranty through;
    garantieende; garantie bis; fin de garantie; fin garantia; vencimiento garantia; ?warranty; ?garantie; ?garantia;
    warranty valid until; end of warranty; garantieablauf; garantiedatum bis; expiration garantie; date fin garantie;
    ?warranty date; ?guarantee expiry; garantia hasta; garantie jusqu au; ?echeance garantie; fim garantia; garantia
    ate; ?vencimento garantia; ?validade garantia; warranty valid upto; warranty upto; *warranty end date; *warranty
    expiry date; *warranty expiry`,
  warranty_contact_phone: 'warranty phone; warranty contact; warranty contact phone; warranty hotline',
  warranty_contact_email: 'warranty email; warranty contact; warranty contact email',
  warranty_notes: 'warranty note; warranty comment; warranty remark; warranty description',
  support_status: 'support status; in support; under support; ?support',
  support_type: 'support type; ?support; ?support level',
  support_provider: `
    support provider; support vendor; maintenance provider; support supplier; ?service vendor; ?service provider;
    ?maintenance vendor; ?wartungsfirma; ?amc vendor`,
  end_of_support_date: 'end of support; eos date; supportende',
  support_start_date: `
    support start; support from; maintenance start; support start date; maintenance start date; ?amc start; ?amc start
    date`,
  support_end_date: `
    support end; support until; support expiry; support expiry date; maintenance end; support end date; maintenance end
    date; ?support; maintenance expiry; maintenance until; end of maintenance; wartungsende; fin de maintenance; fin de
    support; ?amc end; ?amc expiry; ?service expiry; ?service end; ?smartnet end; ?service level end; ?amc end date;
    ?amc until; ?amc end`,
  support_contact_phone: 'support phone; support contact; support contact phone; support hotline',
  support_contact_email: 'support email; support contact; support contact email',
  support_notes: 'support note; support comment; support remark; maintenance note',
  original_cost: `
    original cost; purchase cost; purchase price; acquisition cost; acquisition value; acquisition price; purchase
    value; cost; unit cost; buy price; anschaffungskosten; anschaffungswert; kaufpreis; einkaufspreis; prix d achat;
    cout; cout d achat; precio de compra; costo; coste; coste de compra; costo de adquisicion; valor de adquisicion;
    ?price; ?unit price; ?preis; ?prix; ?precio; ?original value; historical cost; historic cost; cost price; cost
    value; price paid; asset cost; equipment cost; anschaffungspreis; neupreis; kaufwert; valeur d achat; valeur d
    acquisition; cout d acquisition; precio de adquisicion; ?asset value; ?purchase amount; ?unit value; ?item cost;
    ?replacement cost; ?preis euro; ?valeur; ?wert; -total cost; -value; ?importe; ?acquisition amount; -list price;
    prix d acquisition; valor aquisicao; valor compra; valor de compra; preco compra; custo; custo aquisicao; ?preco;
    ?valor; *purchase price; *purchase cost`,
  service_start_date: `
    in service; in service date; service start; service date; commissioning date; put into service; inbetriebnahme;
    date de mise en service; mise en service; fecha de puesta en servicio; ?deployment date; ?deployed; ?install date;
    ?installation date; ?go live date; commissioned; date commissioned; date in service; in use since; placed in
    service; date placed in service; inbetriebnahmedatum; in betrieb seit; date de service; ?date deployed; ?deployed
    date; ?date installed; ?installed; ?installed on; ?installed date; -purchase date; -date acquisition; -kaufdatum;
    -date d achat; -acquisition date; ?fecha alta; ?aktivierung; ?aktivierungsdatum; ?data instalacao; -data aquisicao;
    -data compra; ?capitalized on; ?capitalised on; ?capitalization; -date acquired; ?installed at`,
  depreciation_schedule:
    'depreciation schedule; depreciation; depreciation method; abschreibung; amortissement; depreciacion',
  estimated_salvage_value: 'salvage value; salvage; residual value; restwert; valeur residuelle; valor residual',
  financial_notes: 'financial note; finance note; financial comment; cost note',
  'currency.value': 'currency; currency code; cost currency; wahrung; devise; moneda; divisa; monnaie; moeda',
  'currency.symbol': 'currency symbol; currency sign',
  new_hardware_selling_unit_price:
    'new hardware selling price; hardware selling price; ?selling price; ?selling unit price',
  manufacturer_warranty_unit_price: 'manufacturer warranty price; ?warranty price',
  contract_service_per_item: 'service per item; contract service cost per item',
  sales_manager_name: 'sale manager; sale manager name; account manager; ?sale contact; ?sale representative',
  sales_manager_email: 'sale manager email; account manager email; ?sale email',
  additional_sales_email: 'additional sale email; other sale email',
};

const CONTRACT: Vocabulary = {
  country: LOCATION['country']!,
  contract_type: `
    contract type; agreement type; contract side; vertragsart; vertragstyp; type de contrat; tipo de contrato; buy or
    sell; ?type; ?side; ?record type`,
  name: `
    contract; contract name; contract title; title; agreement; agreement name; agreement title; vertragsname;
    vertragsbezeichnung; bezeichnung; titel; intitule; nom du contrat; nom; objet; nombre; nombre del contrato; titulo;
    subject; libelle; ?project name; ?project; ?project title; ?objeto; contract label; titre; titre du contrat;
    libelle du contrat; vertragstitel; vertragsgegenstand; ?contract subject; ?subject of contract; ?award title;
    ?procurement title; ?project description title; ?objet du contrat; ?objet du marche; ?objeto del contrato;
    ?bezeichnung vertrag; ?software; ?product; ?product name; ?subscription; ?service name; ?application; ?record name;
    ?vertragsinhalt; ?produkt; ?produit; ?producto; nome; nome do contrato; titulo do contrato; ?descricao do contrato;
    ?app; ?app name; *contract name; *contract title; *agreement name; ?anlage; ?gerat`,
  number: `
    number; contract number; contract id; contract code; agreement number; agreement id; vertragsnummer; numero de
    contrat; numero de contrato; contract reference; reference number; award number; ?reference; ?unique id; ?po
    number; ?purchase order; ?purchase order number; ?bestellnummer; ?procurement id; ?award id; ?referencia; contract
    key; vertragskennung; numero de marche; ?award reference; ?agreement reference; ?procurement number; ?procurement
    reference; ?document number; ?contract identifier; ?no dossier; ?no decision; ?aktenzeichen; ?order number; ?ocid;
    ?numero expediente; ?expediente; ?record id; ?policennummer; ?policy number; ?police number; *contract number;
    numero contrato; codigo contrato; ?contrato; ?processo; ?numero processo; ?tender id; ?tender number; ?tender
    reference; ?notice identifier; ?notice number; ?circuit id; ?lease number; ?subscription id; ?agreement no; ?work
    order number`,
  parent_contract: `
    parent; parent no; parent contract; parent contract number; master agreement; master contract; framework; framework
    agreement; rahmenvertrag; contrat cadre; contrato marco`,
  customer: `
    customer; customer name; client; client name; buyer; kunde; kundenname; auftraggeber; cliente; ?client company;
    ?auftraggeber name; ?account name; ?account; ?buyer name; ?contratante; ?orgao`,
  supplier: `
    supplier; supplier name; vendor; vendor name; contractor; contractor name; provider; lieferant; lieferantenname;
    auftragnehmer; fournisseur; nom du fournisseur; proveedor; nombre del proveedor; awarded supplier; ?awardee;
    ?seller; ?counterparty; ?company; ?company name; ?recipient; ?prestataire; ?adjudicatario; supplier vendor; vendor
    supplier; contracting company; attributaire; titulaire; nom du titulaire; dienstleister; ?awarded to; ?winner;
    ?winner name; ?winning bidder; ?successful bidder; ?contractor company; ?vertragspartner; ?service provider;
    ?publisher; ?manufacturer; ?payee; ?organisation name; ?partner; ?lieferfirma; ?counterparty name; ?contratista;
    ?contratada; ?lizenzgeber; ?versicherer; ?assureur; ?insurer; ?licensor; ?leasinggeber; ?lessor; ?aseguradora;
    *supplier name; *vendor name; fornecedor; nome do fornecedor; contratado; ?empresa; ?empresa contratada; ?credor;
    ?prestador; *supplier; *vendor; ?carrier; ?other party; ?second party; ?empresa adjudicataria; ?wartungsfirma;
    ?firma; ?brand name; ?vendor company`,
  status: `
    status; contract status; vertragsstatus; statut; estado; estado del contrato; etat; ?contract state; ?active;
    current status; vertragsstand; statut du contrat; ?state; ?agreement status; ?lifecycle status; situacao; situacao
    do contrato; *contract status`,
  'category.name': `
    category; category name; contract category; kategorie; categorie; categoria; ?commodity; ?spend category; ?class;
    ?expense type; ?contract type; ?agreement type; ?type of contract; ?type de contrat; ?vertragsart; ?vertragstyp;
    ?category of spend; ?procurement category; ?procurement type; ?product category; ?service category; ?goods
    category; ?purchase category; -type; -sector; -industry; ?vertragskategorie; -nature; ?categorie de contrat; ?tipo
    de contrato; ?sparte; ?tipo contrato; ?service type`,
  'category.subcategory':
    'subcategory; sub category; sub; subcategory name; unterkategorie; sous categorie; subcategoria',
  description: `
    description; contract description; long description; beschreibung; descripcion; scope; scope of work; ?summary;
    ?purpose; ?detail; ?zweck; ?objeto; ?service description; ?project description; contract detail; contract purpose;
    contract scope; texte du contrat; leistungsbeschreibung; ?note; ?remark; ?comment; ?bemerkung; ?anmerkung;
    ?remarque; ?commentaire; ?observacion; ?work description; ?subject matter; ?goods; ?observation; ?notiz; ?notizen;
    ?nota; descricao; descricao do contrato; ?purchase order description; ?order description; ?description of goods;
    ?description of service; ?description of goods service; *contract description`,
  business_unit: `
    business unit; bu; geschaftsbereich; unidad de negocio; ?department; ?department name; ?division; ?abteilung;
    ?departement; ?departamento; -agency; -owner department; -cost centre; -cost center; -procuring agency;
    -fachbereich`,
  contract_start_date: `
    start; start date; contract start; contract start date; effective date; effective from; commencement date;
    commencement; begin date; valid from; term start; beginn; vertragsbeginn; startdatum; laufzeit von; gultig ab;
    debut; date de debut; fecha de inicio; inicio; ?from; ?period from; ?award date; ?von; contract begin; contract
    commencement; contract effective date; valid since; in effect from; in force from; vertragsstart; startdatum
    vertrag; date d effet; date de prise d effet; date de debut de contrat; ?start of contract; ?date from; ?awarded
    date; ?date awarded; ?date of award; ?active from; ?subscription start; -signed date; ?effective; ?start on;
    laufzeitbeginn; ?versicherungsbeginn; ?mietbeginn; data inicio; data de inicio; data inicial; inicio vigencia;
    inicio contrato; ?vigencia inicial; ?initial term start date; ?current term start date; *start date; *effective
    date; ?validity from; *validity from`,
  contract_end_date: `
    end; end date; contract end; contract end date; expiry; expiry date; contract expiry; contract expiry date;
    termination date; valid until; valid to; term end; ende; vertragsende; enddatum; laufzeit bis; gultig bis; fin;
    date de fin; fecha de fin; vencimiento; fecha de vencimiento; ?to; ?until; ?bis; ?period to; ?completion date; ?end
    of contract; contract expire; contract termination date; expire date; in force until; vertragsende datum;
    laufzeitende; ablaufdatum; endet am; date d echeance; echeance; date d expiration; date de fin de contrat; fin de
    contrat; ?date to; ?active until; ?subscription end; ?close date; -renewal date; -estimated completion date; ?end
    on; fecha de finalizacion; ?ablauf; ?mietende; fim; data fim; data final; termino; data termino; fim vigencia;
    termino vigencia; fim contrato; vencimento; data vencimento; data de vencimento; ?vigencia final; initial term end;
    ?initial term end date; ?current term end date; *end date; *expiry date; effective to; ?validity to; ?valid
    through; *validity to`,
  notice_period: `
    notice; notice period; notice day; notice period day; termination notice; cancellation notice; kundigungsfrist;
    frist; preavis; preaviso; delai de preavis; plazo de preaviso; notice period in day; kundigungsfrist in tagen;
    kundigungsfrist tage; delai de resiliation; ?length of notice; ?notice length; ?renewal notice; aviso previo; prazo
    de aviso; *notice period; *notice day; ?cancellation period`,
  service_start_date: `
    service start; service start date; leistungsbeginn; servicebeginn; ?service from; ?go live; ?go live date;
    ?installed; ?install date`,
  end_of_term_clause: `
    end of term clause; renewal clause; renewal type; at end; renewal; auto renewal; ?auto renew; auto renew clause;
    automatic renewal; verlangerung; automatische verlangerung; tacite reconduction; reconduction tacite; ?renewal
    option; renovacion automatica; renouvellement automatique; prorroga automatica; ?prorroga`,
  end_of_term_action: 'end of term action; renewal action; action at end',
  timeline_notes: 'timeline note; timeline; renewal note',
  total_contract_spend_value: `
    total; total contract spend; total value; contract value; total contract value; tcv; contract amount; contract
    total; total amount; total spend; total cost; total price; vertragswert; gesamtwert; auftragswert; gesamtbetrag;
    montant total; montant; valeur du contrat; valor total; importe total; importe; valor del contrato; monto total;
    award value; award amount; ?value; ?amount; ?total budget; ?spend; ?wert; ?betrag; ?budget; ?price; contract price;
    contract cost; contract worth; contract sum; awarded amount; awarded value; total award; total award amount; total
    contract amount; total contract cost; auftragssumme; vertragssumme; vertragsvolumen; montant du contrat; montant du
    marche; montant ttc; montant ht; total value gbp; ?contract budget; ?current value; ?current contract value;
    ?award; ?valeur; ?cost; ?total ht; ?spend amount; ?agreed price; ?final price; ?annual value; ?importe de
    adjudicacion; ?importe adjudicado; gesamtkosten; ?cout total; ?coste total; valor do contrato; valor contrato;
    valor global; ?valor; ?valor contratado; ?max value; ?maximum value; ?max spend; ?agreed amount; ?total obligation;
    gesamtvolumen; ?volumen; ?total commitment; ?committed spend; *contract value; *total value; *contract amount;
    ?base price`,
  first_offer_value: 'first offer; first offer value; initial offer; original offer',
  cost_avoidance_value: 'cost avoidance; cost avoided; saving; einsparung; ?negotiated saving',
  contract_risk_value: 'contract risk; risk value',
  mrc: `
    mrc; monthly recurring cost; monthly recurring charge; monthly cost; monthly; monthly fee; monatlich; monatliche
    kosten; cout mensuel; mensuel; coste mensual; mensual; ?monthly price; ?monthly charge; ?monatsrate; ?monatsbetrag;
    ?cuota mensual; ?loyer mensuel; ?monatsmiete; valor mensal; custo mensal; ?mensalidade; ?monthly rent; ?rent;
    ?loyer; ?kosten monatlich; ?monatliche rate; ?monthly amount; ?monthly value; ?monthly payment`,
  nrc: `
    nrc; non recurring cost; non recurring charge; one time cost; one time; one off; one off cost; setup fee; setup
    cost; einmalkosten; einmalig; cout unique; coste unico; ?one time fee; ?installation cost; einmalige kosten; ?one
    time charge; ?einrichtungsgebuhr`,
  'expenditure_type.type': 'expenditure type; spend type; capex opex; opex capex; ?expense type; ?cost type',
  'expenditure_type.capex_actual': 'capex; capex actual; capital expenditure; capex amount',
  'expenditure_type.opex_actual': 'opex; opex actual; operating expenditure; opex amount',
  payment_terms: `
    payment term; term of payment; payment condition; zahlungsbedingung; zahlungsziel; condition de paiement;
    condiciones de pago; ?term; ?net term; default payment term; credit term; condicoes pagamento; condicao de
    pagamento; ?zahlungsweise; ?forma de pago; ?mode de paiement; *payment term`,
  financing: 'financing; financing type; finanzierung; financement; financiacion; ?funding',
  financial_notes: 'financial note; finance note; financial comment; cost note; payment note',
  approver: `
    approver; approved by; genehmigt von; approuve par; aprobado por; approver name; ?approved; ?freigegeben durch;
    ?freigegeben von; aprovador`,
  signer: `
    signer; signed by; signatory; unterzeichner; unterschrieben von; signataire; signe par; firmante; firmado por;
    ?company signed by; signer name; signatory name`,
  signed_date: `
    signed date; date signed; signed on; signature date; signing date; unterschriftsdatum; date de signature; fecha de
    firma; ?signed; ?execution date; unterschrieben; ?unterzeichnet; ?abschlussdatum; ?vertragsdatum; ?agreement date;
    ?fecha de formalizacion; data assinatura; data de assinatura; ?company signed date; sign date`,
};

const COUNTERPARTY: Vocabulary = {
  ...LOCATION,
  'category.name': `
    category; category name; kategorie; categorie; categoria; ?supplier category; ?vendor category; ?customer category;
    ?classification; ?industry; ?type of supplier; ?business category; ?supplier group; ?vendor group; ?customer group;
    ?lieferantengruppe; ?kundengruppe; -sector; -type; -segment; ?commodity; ?famille; ?warengruppe; ?supplier type;
    ?vendor type; ?customer type; ?group; ?account type`,
  'contact_person.name': `
    contact; contact name; contact person; contact full name; primary contact; ansprechpartner; kontakt; kontaktperson;
    personne de contact; interlocuteur; persona de contacto; contacto; attention; ?representative; ?account manager;
    nom du contact; contact nom; kontaktname; ansprechperson; contact person name; key contact; main contact; ?contact
    first and last name; ?attn; ?representative name; ?relationship manager; ?point of contact; contato; contacto; nome
    do contato; pessoa de contato; pessoa de contato; pessoa contacto; person name; pessoa de contacto; *contact name;
    *contact person; ?name; ?nom; ?nome; ?nombre`,
  'contact_person.email': `
    contact email; contact; email; email address; contact email address; ansprechpartner email; email adresse; adresse
    email; courriel; correo; correo electronico; kontakt email; contact person email; ?general email; ?info email;
    email id; company email; business email; work email; mailadresse; primary email; ?sale email; ?office email; ?order
    email; ?billing email; person email; ?person email work; *contact email; *email address`,
  'contact_person.type': 'contact type; contact role; role of contact; kontaktart; type de contact; tipo de contacto',
  address_line_1: `
    address; address line; address line 1; address 1; street; street address; street 1; street name; postal address;
    mailing address; adresse; anschrift; strasse; adresszeile 1; strasse hausnummer; rue; adresse 1; direccion;
    direccion 1; calle; domicilio; ?address street; ?building and street; ?head office address; line 1; full address;
    office address; business street; strasse und nummer; rue et numero; adresse postale; adresse ligne 1; ?location
    address; ?physical address; ?registered address; ?site address; ?adresse siege; ?premise; ?company address;
    ?address primary; endereco; morada; ?logradouro; ?voie; ?via`,
  address_line_2: `
    address line 2; address 2; street 2; adresszeile 2; adresszusatz; adresse 2; complement d adresse; direccion 2;
    ?address suffix; ?suite; line 2; address suite; adresse ligne 2; ?address extra; ?building; ?district; -zusatz;
    ?street address 2; complemento; ?bairro; ?complement`,
  zip_postal_code: `
    zip; zip code; postal code; postcode; post code; zip postal code; plz; postleitzahl; code postal; codigo postal;
    cp; post zip code; zip postcode; pin code; pincode; postal; zip postal; cod postal; cep; *postal code; *zip code;
    *postcode; *zip`,
  phone: `
    phone; phone number; office phone; business phone; work phone; rufnummer; numero de phone; ?contact number;
    ?contact phone; ?contact phone number; ?contact person phone; ?switchboard; ?festnetz; ?landline; main phone;
    primary phone; company phone; phone 1; festnetznummer; ?central phone; ?sale phone; ?phone contact; ?contact;
    ?contact office phone; telefono fijo; phone fijo; ?toll free; ?toll free phone; ?person phone; phone work; *phone
    number`,
  mobile: `
    mobile; mobile number; mobile phone; cell; cell phone; cellular; handy; mobil; mobiltelefon; handynummer;
    mobilnummer; portable; movil; celular; phone movil; phone portable; ?contact mobile; portable numero; gsm; ?mobile
    contact; ?whatsapp; telemovel; contact cell phone; *mobile number`,
  fax: 'fax; fax number; facsimile; telefax; telecopie; *fax',
  website: `
    website; web site; web; url; homepage; home page; web page; webpage; web address; internet; internetseite;
    webseite; site web; site internet; sitio web; pagina web; ?domain; company website; website url; web site url;
    homepage url; internetadresse; adresse web; ?link; ?domain name; ?company url; ?site; internet address; *website;
    *web site`,
  general_description: `
    description; about; general description; profile; beschreibung; descripcion; company description; business
    description; ?note; ?remark; ?comment; ?bemerkung; ?commentaire; ?observacion; ?service; ?product; ?services
    offered; overview; supplier description; company profile; presentation; ?information; ?additional note; ?business
    activity; ?activity; ?activite; ?branche; ?specialty; ?specialisation; ?speciality; ?supplied product; ?product
    service; ?kommentar; ?notiz; ?notizen; ?remarque; ?anmerkung; ?detail; -sector; ?observation; descricao; ?solution;
    ?servico; ?servicos; ?atividade; ?actividad; ?unternehmensgegenstand; ?ramo de atividade; ?observacoes`,
  nda_signed: `
    nda; nda signed; nda in place; has nda; confidentiality agreement; non disclosure agreement;
    geheimhaltungsvereinbarung; accord de confidentialite; ?nda on file; nda vorhanden; nda firmado; nda signe`,
  nda_signed_date: 'nda date; nda signed date; nda signed on; date of nda; ?nda; ?nda signed',
  msa_signed:
    'msa; msa signed; msa in place; has msa; master service agreement; rahmenvertrag; contrat cadre; ?msa on file',
  msa_signed_date: 'msa date; msa signed date; msa signed on; date of msa; ?msa; ?msa signed',
  supplementary_description: 'supplementary description; supplementary information',
  additional_description: 'additional description; additional information',
};

const COMPANY_NAMES = `
  company; company name; organisation; organisation name; business name; legal name; trading name; firma; firmenname;
  firmenbezeichnung; unternehmen; ?nombre fiscal; ?intitule; name 1; raison sociale; societe; entreprise; nom; nom de l entreprise;
  razon social; razao social; empresa; nome; nome da empresa; nombre; nombre de la empresa; denominacion social; account name; ?trade name; ?counterparty;
  ?partner name; ?merchant; ?payee; ?entity name; ?facility name; ?factory; ?factory name; ?plant name`;

const SUPPLIER: Vocabulary = {
  ...COUNTERPARTY,
  name: `
    supplier; supplier name; vendor; vendor name; name of supplier; lieferant; lieferantenname; fournisseur; nom du
    fournisseur; proveedor; nombre del proveedor; ?manufacturer; ?manufacturer name; ?contractor name; ?provider;
    ?provider name; ?customer; ?customer name; ?client; ?client name; ?kunde; ?kundenname; ?nom du client; ?cliente;
    name of vendor; lieferantenbezeichnung; kreditor; kreditorenname; name des lieferanten; nom du prestataire;
    denomination; ?contractor; ?seller; ?seller name; ?distributor; ?partner; ?subcontractor; ?dienstleister;
    ?prestataire; ?etablissement; ?business; ?supplier company; ?facility; ?producer; ?brand; *supplier name; *vendor
    name; ${COMPANY_NAMES}; fornecedor; nome do fornecedor; ?prestador; ?credor`,
  type: 'supplier type; vendor type; us or foreign; domestic or foreign; ?type',
  business_name: `
    business legal name; doing business as; dba; trading as; ?business name; ?trade name; ?legal name; ?registered
    name; ?registered company name; ?nome fantasia; nombre comercial; nom commercial`,
  business_address_line_1: `
    business address; business address line 1; business address 1; ?registered address; ?registered office; ?billing
    address`,
  business_address_line_2: 'business address line 2; business address 2',
  business_city: 'business city; ?billing city',
  business_state_province: 'business state; business province; ?billing state',
  business_zip_postal_code:
    'business zip; business zip code; business postal code; business postcode; ?billing zip; ?billing postcode',
  business_country: 'business country; ?billing country',
  // Nine characters fit many a register: only a heading that says so makes an EIN of them.
  ein: `
    ein; ein number; fein; federal ein; employer identification number; employer id number; federal employer
    identification number; us employer identification number; federal tax id; federal tax identification number;
    federal id number`,
  financial_description: 'financial description; financial note; financial information; ?finance note',
};

const CUSTOMER: Vocabulary = {
  ...COUNTERPARTY,
  name: `
    customer; customer name; client; client name; name of customer; buyer; kunde; kundenname; nom du client; nombre del
    cliente; cliente; ?public body; ?public body name; ?debtor; ?supplier; ?supplier name; ?vendor; ?vendor name;
    ?lieferant; ?lieferantenname; ?fournisseur; ?proveedor; name of client; debitor; debitorenname; name des kunden;
    denomination; ?institution; ?client company; ?establishment; ?etablissement; ?school name; ?authority; ?business;
    *customer name; *client name; ${COMPANY_NAMES}; nome do cliente`,
};

export const VOCABULARY: Readonly<Record<ResourceName, Vocabulary>> = {
  asset: ASSET,
  contract: CONTRACT,
  supplier: SUPPLIER,
  customer: CUSTOMER,
};
