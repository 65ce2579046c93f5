import type { ResourceName } from '../resources/spec.js';

/**
 * What people call the fields, beside their names, aliases and labels. Words that `CONCEPTS` has are said in English here.
 * A phrase means the field for certain; `?` before it: likely, so it is mapped and marked; `-`: perhaps, so it is shown
 * and not mapped; `*`: likely also as the end of a longer heading. Phrases are separated by semicolons. A table of data, hence the length.
 */
type Vocabulary = Readonly<Record<string, string>>;

/** Words that name the resource itself: `Vendor City` in a list of suppliers is the city. */
export const RESOURCE_WORDS: Readonly<Record<ResourceName, string>> = {
  asset:
    'inventar fijo fixe fisso carga ci cmdb configuration system chassis fixed asset equipment item device hardware inventory machine product computer laptop notebook gerat anlage actif activo equipo equipement appareil materiel equipamento ativo bem handset vehicle printer server workstation tablet pc',
  contract:
    'lease subscription licence license award wartungsvertrag mietvertrag leasingvertrag contract agreement vertrag contrat contrato',
  supplier:
    'supplier vendor company organisation factory facility contractor lieferant lieferanten fournisseur proveedor fornecedor firm firma',
  customer: 'customer client company organisation account kunde kunden cliente',
};

/** Words that change nothing about what a column holds. */
export const PLAIN_QUALIFIERS = `
  responsible aktuell aktueller aktuelle actual actuel actuelle display official primary main full legal current
  standard text field info information detail data master default basic corporate registered internal billing remit
  remittance mailing hq headquarter netto brutto ht ttc usd eur euro gbp sterling fulfillment fulfilment postal
  principal 1 fiscal comercial pound dollar chf aed cad aud inr jpy pln sek nok dkk zar ngn kes ghs brl
  mxn clp huf ron czk thb idr myr sgd hkd nzd ils krw cny uah egp work requesting public
  merceologico merceologica detailed brief tvac htva commercial texte texto testo tekst`;

/** Words that make another thing of whatever stands beside them. */
export const DISTINGUISHING_WORDS: ReadonlySet<string> = new Set(
  'previous old former parent related new other next last prior replaced manager docking monitor keyboard charger calibration planned estimated expected proposed trial quantity original initial base minimum technician siret siren cif nif nipc cnpj cpf cuit rut ruc kvk btw ustid vat iva tva piva'.split(
    ' ',
  ),
);

/**
 * What single words mean, in the languages of the headings: concept, colon, the words and abbreviations for it. Headings and the
 * phrases below are compared by concepts, so that `Garantieende`, `Fin de garantie` and `Warranty end` are one.
 */
export const CONCEPTS: ReadonlyMap<string, readonly string[]> = new Map(
  phrases(`
    1: one; 2: two; account: acct konto compte cuenta conta rekening; acquisition: acq acquis aquis adq; action: accion
    acao azione actie aktion; activation: aktivierung ativacao activacion attivazione activering; active: aktiv actief;
    activity: activite actividad atividade attivita activiteit tatigkeit; actual: atual attuale huidige; address: addr
    adr adresse anschrift direccion indirizzo adres endereco morada; amount: summe somme suma somma soma betrag
    montant importe importo bedrag monto imp montante; annual: jahrliche annuo annua jahrlich annuel annuelle anual
    annuale jaarlijks yearly; approval: freigabe genehmigung approvazione; approved: genehmigt freigegeben approuve
    aprobado approvato goedgekeurd aprovado; approver: approbateur aprobador aprovador approvatore genehmiger
    goedkeurder; asset: asst anlagen activo ativo actif bien bene cespite cespiti middel activa activum; assigned:
    checked issued allocated herausgegeben ausgegeben ubergeben uitgecheckt uitgegeven alocado allocato zugewiesen
    zugeordnet zuordnung affecte attribue asignado assegnato toegewezen atribuido; assignee: assegnatario affectataire;
    automatic: auto automatisch automatische automatico automatica automatique tacite tacito tacita stillschweigende
    automatically autom automaticamente automatiquement; award: adjudicacion adjudicacao aggiudicazione zuschlag
    attribution gunning adj adjudicado adjudicada; awardee: adjudicatario adjudicataria aggiudicatario attributaire
    titulaire zuschlagsempfanger adjudicataire aggiudicataria; birth date: dob; brand: marke marque marca merk;
    building: immeuble palazzo pabellon pavilhao bldg bldng gebaude batiment edificio gebouw predio geb bat edifice
    pavillon inmueble plesso padiglione palazzina fabbricato liegenschaft edif; by: durch door da por par; capex:
    investissement investition investitions investimento investering; category: cat kategorie categorie categoria rubrik
    rubrique rubriek rubro; city: concelho stadt ville ciudad citta cidade plaats comune commune gemeente municipio
    municipality town ort localita localite localidad localidade woonplaats munic; class: klasse classe clase;
    classification: clasificacion classificazione classificacao klassifizierung categorisation categorization
    kategorisierung; clause: klausel clausula clausola; code: codigo codice cod kode; company: co firma firmen
    unternehmen societe entreprise empresa azienda bedrijf ditta impresa gesellschaft; computer: rechner ordinateur
    ordenador computador; condition: cond condicion condicione condicoe condizione condizioni; conservation:
    conservacion conservacao conservazione; contact: contacter contactar contattare kontakt contacto contatto contato
    ansprechpartner ansprechperson interlocuteur referente asp; contract: cntr contr marche vertrag vertrage contrat
    contrato contratto agreement overeenkomst contractual contratual contrattuale contractuel vertr kontrakt acuerdo
    accordo acordo accord agmt; cost: costi kosten costo coste cout custo; country: cntry ctry land lander pays pais
    paese nazione nacao nation staat; currency: curr wahrung wahrg devise monnaie moneda divisa moeda valuta munt;
    custodian: custodio consegnatario depositario; customer: cust client kunde kunden cliente klant debitor debitoren
    debiteur; cycle: zyklus ciclo ciclus; date: dt datum data fecha fec dat; day: tage jour dia giorno giorni dag dagen
    dgn; deactivation: deaktivierung; default: predefinita predefinito predeterminada predeterminado padrao standaard
    defaut; department: dipartimento dezernat referat fachabteilung dept abteilung departamento reparto afdeling abt afd
    dpto depto; depreciation: abschreibung abschreibungs amortissement amortizacion amortizacao depreciacion depreciacao
    ammortamento afschrijving afschrijvings amort amm amortisation depr; description: desc descr descripcion descrizione
    descricao beschreibung omschrijving omschr descriptif; designation: bezeichnung bezeichnungen denominacion
    denominazione denominacao libelle intitule benaming bez lib designacao designacion; detailed: detalhada detallada
    detaillee dettagliata ausfuhrliche; device: gerat gerate appareil dispositivo toestel apparaat; direction: direcao
    direzione direktion directie; disposal: dismissione; document: doc dokument documento; effective: eff; email: mail
    courriel correo mailadresse; employee: collaborateur salarie personeel colaborador funcionario mitarbeiter
    medewerker dipendente empleado; end: ende einde eind fin fim fine terminacion ultimazione termino termo; entity:
    entidade entidad entite ente; environment: env umgebung omgeving entorno environnement; equipment: equip equipement
    equipo equipamento apparecchiatura; execution: ejecucion execucao esecuzione ausfuhrung uitvoering; expense: depense
    gasto spesa ausgabe; expiry: verfall afloop expiracion expiracao vervalt expira scade vence verloopt exp expiration
    expire ablauf vencimiento vencimento echeance scadenza verval caducidad vto vcto venc vencim expiratie; family:
    famille familia famiglia familles; fax: telefax telecopie telecopieur telfx; fee: gebuhr redevance cuota canone taxa
    vergoeding; financial: financieel financiele financiera financiero financeira financeiro finanziell finanzielle
    kaufmannische financier financiere economiche economica contabile contabili finanziaria finanziarie; financing:
    finanzierung finanzierungs financement financiamento financiacion finanziamento financiering; first name: vorname
    prenom voornaam; floor: flr etage stockwerk geschoss piso planta piano verdieping andar niveau bouwlaag pavimento;
    from: von ab desde depuis vanaf dal; function: fonction funktion funcion funcao funzione functie; group: gruppe
    groupe grupo gruppo groep; hardware: hw; historical: storico historique historico historisch historische historic;
    id: identificador identificativo identifikation; in service: inbetriebnahme ingebruikname inbetriebn; industry:
    sector settore sektor secteur setor branche; initial: inicial initiale iniziale erst eerste primeira primera
    premiere prima; installation: instalacao instalacion installazione installatie; insurance: versicherung assurance
    seguro assicurazione verzekering; inventar: inventaire inventario inventaris; inventory: inv; invoice: rechnung
    facture factura fattura fatura factuur; item: articulo article artikel articolo artigo; key: schlussel clave chiave
    sleutel chave; last name: nachname cognome achternaam apellido; lease: leasing miete miet renting noleggio locacao
    arrendamiento; lessor: landlord vermieter leasinggeber loueur bailleur arrendador locatore verhuurder; licence:
    license lizenz licencia licenza licentie; life: lebensdauer nutzungsdauer levensduur vie vida vita; line: ligne
    zeile regel linea linha; location: lieu lugar localisation localizacion loc standort ubicacion emplacement
    ubicazione locatie localizacao luogo standplaats collocazione posizione einsatzort; machine: maschine maquina
    macchina; maintenance: entretien maint wartung manutenzione manutencao mantenimiento onderhoud; manager: gestor
    gestora gestionnaire gestore beheerder gestionnaires gerente; manufacturer: producent manuf mfg mfgr mfr maker
    hersteller costruttore fabricant fabricante fabbricante fabrikant produttore constructeur fabrikat herst
    costruttrice; material: matl; maximum: maximal maximale massimo maximo max; method: methode metodo; mobile: mob
    handy mobil movil celular cellulare cell telemovel mobiel natel cellulaire tlm cel; model: mdl modell modele modelo
    modello mod; month: monat mois mes mese maand; monthly: mtl monatlich monatliche mensuel mensual mensile mensal
    maandelijks maandelijkse mensuelle; msa: rahmenvertrag; name: nm nom nome naam nombre; nda: confidentiality
    confidentialite confidencialidad confidencialidade riservatezza geheimhouding geheimhaltung
    geheimhaltungsvereinbarung; note: kommentare notizen memo toelichting erlauterung comment remark bemerkung kommentar
    notiz anmerkung hinweis remarque commentaire nota comentario observacion observation observacoe opmerking commento
    annotazione osservazione osservazioni obs observacao annotazioni freitext bijzonderheden notities anotacoe
    anotacione annotation opm; notice: disdetta resiliation rescision kundigung preavis preaviso preavviso opzeg
    opzegging kund denuncia denonciation; number: no nbr nmr nr nro num numero nummer; object: objet objecto objeto
    oggetto gegenstand onderwerp objekt; offer: quote quotation bid angebot offre oferta offerta offerte proposta
    proposition propuesta; on: op; one time: einmalig einmalige eenmalig eenmalige; opex: fonctionnement exploitatie;
    organisation: org organization; owner: eigentumer besitzer inhaber proprietaire propietario proprietario eigenaar
    detenteur; part: teile teil pezzo pieza peca; party: partij partei parte partie; patrimonio: patrimonial; payment:
    zahlung paiement pago pagamento betaling reglement betaal betalings pmt pagto pgto; payment term: zahlungsbedingung
    zahlungsbedingungen zahlungsziel zahlungskondition zahlungskonditionen betalingsconditie betalingsvoorwaarde
    betalingsvoorwaarden; percent: pct; period: frist delai plazo prazo periodo; person: personne persona pessoa
    persoon; phase: fase; phone: fono ph tel telefon telefono telefone telephone tlf telf tfno telefoon fone telef;
    physical: fisica fisico physique physisch; postcode: plz postleitzahl pstlz cap npa eircode; price: preis prix
    precio preco prezzo prijs; primary: haupt hoofd; product: produkt produit producto prodotto produto; province: prov
    provincia provincie; public: publique publica publico pubblica offentlich; purchase: erwerb gekauft achete gekocht
    acquistato purchased bought purch anschaffung kauf achat compra aquisicao adquisicion acquisto aankoop aanschaf
    beschaffung inkoop ansch ek aankoopdatum einkauf koop; quantity: anzahl menge cantidad quantita quantite aantal
    quantidade qnty qty quant; reason: raison razon razao ragione; reference: ref referenz referencia riferimento
    referentie; region: regio regione; renewal: verlangerung renouvellement renovacion renovacao reconduction rinnovo
    verlenging renew verl reconduccion renova prorrogacao prorroga prorogation; representative: representante
    reprasentant representant rappresentante vertegenwoordiger rep; requesting: demandeur solicitante richiedente
    requirente requisitante demandante proponente aanvragende anfordernde; reseller: revendedor revendeur rivenditore;
    residual: rest residuel residuelle residuo residuale; responsible: encargado zustandiger verantwortlich
    verantwortlicher verantwortliche verantwoordelijke responsable responsavel responsabile zustandig resp; risk: risque
    risco riesgo rischio risiko; role: ruolo rol rolle; room: lokaal rm raum zimmer salle sala habitacion stanza kamer
    ruimte locale zi vano compartimento; sale: verkauf vente venta venda vendita verkoop; saving: einsparung economie
    ahorro risparmio besparing; scope: alcance umfang perimetre; seller: verkaufer vendeur venditore verkoper; serial:
    ser serie serien seriale; serial number: sn matricola ns; service: svc servicio servizio servico dienstleistung
    dienstverlening; signatory: signataire firmante firmatario unterzeichner ondertekenaar signatario; signature:
    unterschrift assinatura sottoscrizione stipula handtekening formalizacion celebracao unterzeichnung ondertekening
    suscripcion teken; signed: signee firmada sottoscritto assinada getekend unterzeichnet unterschrieben signe firmado
    firmato ondertekend assinado; site: sede sitio sito vestiging; specification: especificacao especificacion
    spezifikation specifica; start: decorrenza commencement begin beginn debut inicio inizio aanvang ingang beg
    commence; status: statut estatus situacion situacao situazione sit; street: rua str strasse stras rue calle straat
    logradouro; subcategory: subcat unterkategorie subcategoria sottocategoria subcategorie; subgroup: subgroep
    untergruppe sottogruppo subgrupo; subject: betreff asunto assunto betreft; supplier: anbieter aanbieder vend vendor
    lieferant lieferanten kreditor kreditoren fournisseur proveedor fornecedor fornitore leverancier provider
    contractant contractor prestataire dienstleister auftragnehmer proveedora lieferfirma contratista contratada
    contratado lief lev fourn suministrador crediteur toeleverancier opdrachtnemer forn fornec fornitrice; support:
    soporte supporto suporte ondersteuning assistenza; tag: etichetta etiqueta etiquette etikett marcacao; technician:
    technicien tecnico techniker technicus; term: termijn termini termine; title: titel titre titulo titolo; total:
    complessivo complessiva gesamt totale totaal; type: typ tipo soort art tipologia; unit: unitario unitaire unitaria;
    until: till bis hasta jusqu tot ate upto thru through fino; usage: uso utilizacao utilizzo gebruik nutzung
    utilisation utilizacion; user: benutzer nutzer anwender utilisateur usuario utente gebruiker utilizador usager
    utilizzatore eindgebruiker endbenutzer endanwender; valid: gultigkeit validite validita geldigheid validez gultig
    valide valido valida geldig vigencia validity vig vigente; value: vlr val wert valeur valor valore waarde wrd;
    vehicle: fahrzeug vehiculo vehicule veiculo veicolo voertuig; warehouse: lager almacen magazzino entrepot armazem
    magazijn; warranty: warr wty garantie garantia garanzia guarantee gewahrleistung gar waarborg; year: jahr annee anno
    ano jaar ans jr; yes: ja oui si sim`).flatMap((entry) => {
    const [concept = '', words = ''] = entry.split(': ');
    return words.split(' ').map((word) => [word, concept.split(' ')] as const);
  }),
);

const PROVIDERS = {
  oem: 'manufacturer; original manufacturer; hersteller',
  oem_extended: 'oem ext; extended oem',
  third_party: '3rd party; third party provider',
};

/** Words of other languages and of everyday use for the values of a list, by field; each means one value and no other. */
export const VALUE_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  status: {
    active:
      'live; current; valid; running; ongoing; published; in effect; in force; laufend; in kraft; actif; en vigueur; en cours; activo; en curso; ativo; em vigor; attivo; in corso; lopend; vigente',
    archived: 'archiviert; archive; archivado; archiviato; gearchiveerd',
    cancelled: 'canceled; storniert; annule; cancelado; anulado; annullato; geannuleerd',
    draft: 'entwurf; brouillon; borrador; rascunho; bozza; concept',
    expired: 'lapsed; ended; abgelaufen; expire; termine; vencido; caducado; finalizado; encerrado; scaduto; verlopen',
    suspended: 'on hold; ausgesetzt; suspendu; suspendido; suspenso; sospeso; opgeschort',
    terminated: 'gekundigt; resilie; rescindido; disdetto; opgezegd',
  },
  contract_type: {
    buy_side:
      'buy; buying; buyer; purchase; purchasing; procurement; vendor; supplier; inbound; einkauf; einkaufsvertrag; achat; compra',
    sell_side: 'sell; selling; seller; sale; customer; outbound; verkauf; verkaufsvertrag; vente; venta',
  },
  warranty_status: {
    within_warranty: 'in warranty; under warranty',
    out_of_warranty: 'out of warrantee; warranty expired',
  },
  warranty_type: {
    none: 'no; without; keine; aucune; ninguna',
    ...PROVIDERS,
    advanced_replacement_warranty: 'advanced replacement',
    standard_manufacturer_warranty: 'standard manufacturer',
    gold_level_support: 'gold level; gold support',
  },
  support_status: { within_support: 'in support; under support', out_of_support: 'support expired' },
  support_type: { none: 'no; without; keine; aucun; ninguno', ...PROVIDERS },
  'expenditure_type.type': {
    blended: 'mixed',
    capex: 'capital; capital expenditure; investition; investissement',
    opex: 'operating; operational; operating expenditure; operational expenditure; betrieb; exploitation',
  },
  end_of_term_clause: {
    auto_renewed:
      'yes; y; true; automatic; automatic renewal; automatically renewed; auto renew; auto renewal; evergreen; verlangert sich',
    auto_expires:
      'auto expire; automatically expires; no; n; false; fixed; manual; expires; nein; non; nao; nee; endet; none',
  },
  end_of_term_action: {
    allow_auto_renew: 'allow auto renewal',
    allow_expiration: 'allow expiry; let expire',
    disallow_auto_renew: 'disallow auto renewal; do not renew',
    renegotiate: 'renegotiation',
  },
  payment_terms: {
    net_30: '30 day; 30 day net; 30 day netto; 30 gg; 30 d; n 30; 30',
    net_45: '45 day; 45 day net; 45 day netto; 45 gg; 45 d; n 45; 45',
    net_60: '60 day; 60 day net; 60 day netto; 60 gg; 60 d; n 60; 60',
  },
  depreciation_schedule: {
    '3_year_33_percent': '3; 3 year',
    '5_year_20_percent': '5; 5 year',
    '10_year_10_percent': '10; 10 year',
  },
  financing: {
    financed: 'finance',
    leased: 'lease; leasing; gemietet',
    self_paid: 'self pay; self financed; cash; own fund; eigenmittel',
  },
  'contact_person.type': {
    account_management: 'account manager',
    sales: 'sale; vertrieb',
    billing: 'accounting; accounts payable; invoices; invoicing; buchhaltung',
    executive: 'management',
    technical: 'it; tech; technik; technique',
  },
  type: { us: 'usa; united states; domestic', foreign: 'non us; international; overseas' },
};

/** What is no place: the state of a thing, a rank, a sales region. `State`, `Level` and `Region` mean either. */
export const NON_PLACES = `
  active; inactive; in use; in stock; in repair; in service; available; assigned; deployed; retired; disposed; scrapped;
  broken; spare; stock; lost; new; used; good; fair; poor; open; closed; yes; no; high; medium; low; critical; aktiv;
  inaktiv; in betrieb; lager; defekt; ausgemustert; en service; en stock; hors service; reforme; actif; inactif; rebut;
  activo; baja; almacen; bueno; malo; emea; apac; amer; latam; dach; global; non active; decommissioned`;

/** A region called so is none of a country's provinces. */
export const DIRECTIONS =
  'north; south; east; west; central; nord; sud; ost; ouest; est; norte; sur; sul; oeste; este; zuid; oost';

/** Headings that no field is for, though their words are like those of one. */
export const EXCLUDED_HEADINGS: Readonly<Record<ResourceName, string>> = {
  asset:
    'current value; book value; net book value; nota fiscal; accumulated depreciation; depreciation cumule; depreciation acumulada; depreciation value; value depreciado',
  contract: '',
  supplier: '',
  customer: '',
};

/** The phrases of an entry, one blank between their words. */
export function phrases(entry: string): string[] {
  return entry
    .split(';')
    .map((phrase) => phrase.replace(/\s+/g, ' ').trim())
    .filter((phrase) => phrase !== '');
}

/** Every beginning with every end. */
function combine(beginnings: string, ends: string): string {
  return phrases(beginnings)
    .flatMap((first) => phrases(ends).map((last) => `${first} ${last}`.replace(/^\? /, '?')))
    .join('; ');
}

const LOCATION: Vocabulary = {
  city: 'city name; locality; poblacion; ?suburb; ?post town; ?wohnort; ?city town village locality; *city',
  country: `
    country name; lkz; country code; iso country; iso country code; country region; country region code;
    ?herkunftsland; country key; landerkennzeichen; *country; *country code`,
  state_province: `
    state code; bundesland; departement; prefecture; ?county; ?region; ?kanton; ?comunidad autonoma; ?estado
    provincia; ?state region; ?canton; ?state county; ?site state; ?etat province; uf; unidade da federacao; unidade
    federativa; ?distrito; ?region code; ?province code; *state province; ?st`,
};

/** Who sells or lets, to whatever it is sold. */
const SELLERS = `
  ?reseller; ?seller; ?dealer; ?distributor; ?distributeur; ?handler; ?lessor; ?leasing company; ?shop; ?store`;

const ASSET: Vocabulary = {
  ...LOCATION,
  name: `
    asset; item; item name; equipment; equipment name; device; device name; hostname; host name; computer name;
    machine name; bezeichnung; anlagenbezeichnung; nombre del activo; ?product name; ?product; ?title; ?asset
    description; ?equipment description; display name; system name; node name; dns name; ci name; configuration item;
    nom materiel; inventargegenstand; gegenstand; ?computer; ?server; ?workstation; ?artikelbezeichnung; ?materiel;
    ?item description; ?objektbezeichnung; ?software; ?software name; ?application; ?license name; ?description; nome
    do bem; ?bem; ?descricao do bem; ?object title; ?object name; ?geratebezeichnung; ?netbios name; ?key field; ?net
    name; ?network name; nom du poste; nom du poste de travail; ?short name; ?short designation; kurzbezeichnung; ?nom
    reseau; ?resource description`,
  manufacturer: `
    brand; oem; ?make; brand name; make manufacturer; producer; ?geratehersteller; ?publisher; ?software publisher;
    *manufacturer; make name; ?manufacturer company; ?casa costruttrice; ?manufacturer house`,
  serial_number: `
    serial id; serial code; fabriknummer; service tag; ?service tag number; serial s n; factory number; geratenummer
    serial; ?vin; ?fahrgestellnummer; ?chassis number; ?fabrikationsnummer; *serial number; ?fin;
    ?fahrzeugidentifikationsnummer; ?numero chassi; ?imei; ?imei number; manufacturer serial number; fabr number;
    fabriek number; ?manufacturer serial; ?vin number`,
  pseudo_number: 'pseudo serial number',
  asset_tag: `
    tag number; asset tag number; property tag; inventory tag; barcode; inventarnummer; ?asset number; ?asset id;
    ?asset code; ?equipment number; ?equipment id; ?property number; ?codigo de activo; ?numero de activo; tag id;
    asset label; inventar code; code inventaire; code barre; ?fixed asset number; ?equipment code; ?item code;
    ?inventory id; ?inventory code; ?numero interne; -id interne; ?control number; ?property id; ?kennzeichen;
    ?license plate; ?plate number; -device id; -item id; -codigo; ?anlage; ?geratenummer; ?immatriculation;
    ?matricula; *asset tag; patrimonio; numero patrimonio; code patrimonio; ?plaqueta; ?tombo; ?tombamento; ?numero
    tombo; ?fleet number; ?registration; ?registration number; ?numero immobilisation; ?identifier; *asset number;
    *asset id; ?internal number; ?placa; ?placa asset; ?chapa; ?label number; ?sticker number; ?object number; ?object
    id; code barra; ?asset fijo number; ?gmao number; ?inventarisatie number; ?tombamento number; ?plant number;
    ?ident number; ?tag patrimonio; ?patrimonio tag; ?chapa patrimonio`,
  lifecycle_stage: `
    life cycle; ?resource state; lifecycle status; stage; ?status; ?asset status; ?state of life; ?estado;
    ?disposition; ?install status; ?installation status; ?device status; ?equipment status; ?item status; ?operational
    status; ?current status; ?asset state; ?lifecycle state; ?stato; ?deployment status; ?etat; ?betriebsstatus;
    ?state; ?life phase; life cycle phase; ?phase; lebenszyklusphase; levensfase; phase cycle life; ?object status;
    -condition; -estado conservacao; -working status; -functional status; -funktionsstatus; -asset condition; -zustand`,
  product_description: `
    ?model; ?model name; ?description; ?item description; ?asset description; ?product; ?product name; ?specification;
    ?hardware model; ?computer model; ?product model; ?equipment model; ?device model; ?model description; ?make
    model; ?modellbezeichnung; ?typbezeichnung; ?produktbezeichnung; ?designation; ?model type; ?handset model; *model
    name; ?type number; ?brand model; ?manufacturer model; ?technical specification; ?caracteristiques techniques;
    ?short description; ?caracteristica; ?characteristic; -type`,
  asset_notes: `
    ?description; ?information; ?info; ?additional information; ?additional note; ?detail; ?asset description`,
  asset_hardware_model: 'hardware model id',
  manufacturer_part_number: `
    mpn; part number; numero de parte; artikelnummer; ?model number; ?sku; ?product number; ?product code;
    manufacturer number; ?model code; ?reference fabricant; ?numero de piece; ?manufacturer code; manufacturer sku;
    manufacturer item code; manufacturer item number; manufacturer part`,
  parent_manufacturer_part_number: 'parent part number',
  parent_serial_number: `
    parent serial; parent asset serial number; serial number primary device; serial number equipment principal; serial
    number parent device; serial number parent; serial number unite centrale; serial number primary equipment`,
  customer_part_number: 'customer item number; cpn; customer material number; customer item code; customer article',
  business_entity_type: 'legal entity',
  make: 'make id',
  inventory_no: '',
  mac_address: 'mac; ethernet address; mac id; ethernet mac; wifi mac; wireless mac; wlan mac; lan mac',
  asset_physical_location: '',
  contract: `
    ?contract reference; ?contract id; ?support contract; ?maintenance contract; ?support contract number;
    ?maintenance contract number; ?service contract; ?lease number; ?lease contract; -smartnet number; ?amc contract
    number; ?amc contract; ?service contract reference; ?maintenance contract reference`,
  'category.name': `
    asset category; asset class; ?class code; ?asset type; ?equipment type; ?device type; ?item type; ?asset group;
    ?equipment category; ?item category; ?product category; ?type; ?hardware type; ?computer type; ?hardware category;
    ?gerateklasse; ?type materiel; ?famille; ?objekttyp; -class; -license type; *category name; *class name; ?model
    category; ?chassis type; ?group; ?form factor; ?nature; ?nature materiel; ?bauart; ?modality; ?modality class;
    ?warengruppe; ?asset family; ?classification; ?asset classification; ?code family; ?classe tecnologica; ?equipment
    class; ?purchase family`,
  'category.subcategory': `
    sub category; sub; subcategory name; sous categorie; ?subclass; ?subclass code; ?sub type; ?subtype; ?sub class; ?device subtype;
    ?sous famille; *subcategory name; *class name; ?sub group; ?subgroup; ?subfamily; ?sotto type; ?subfamilia`,
  asset_owner: `
    owner name; owner email; responsible; responsible person; custodian; ?assigned to; ?assigned user; ?user; ?user
    name; ?employee; ?held by; owned by; asset custodian; ?full name; ?employee name; ?employee full name; ?user full
    name; ?assigned employee; ?primary user; ?current user; ?assigned person; ?in use by; ?used by; ?zugewiesen; ?user
    email; ?employee email; ?assigned email; -name; -agent; ?assigned out to; ?assigned out; ?fahrer; ?driver;
    ?primary user email; ?primary user email address; ?assigned user name; ?conducteur; ?conductor; ?detentor; ?last
    logon user; ?last user; ?last logged on user; affectataire; ?user fullname; -contact; zugeordnete person; ?person;
    ?entleiher; ?ausleiher; ?borrower; ?student; ?staff; ?staff name; ?teacher; ?holder; *user full name;
    ?beneficiaire; ?resguardante; ?in carico; ?employee assignee; ?end user; ?name agent; ?responsible email; ?in
    bruikleen bij; ?sub custodian; ?carga atual; ?point of contact; ?poc; ?consignatario; ?person id name`,
  business_unit: `
    bu; geschaftsbereich; organisationseinheit; unite commerciale; unidad de negocio; ?dependencia; ?assigned to
    department; ?department; ?division; ?departement; ?bereich; ?direction; -cost centre; -cost center; -kostenstelle;
    -company; -home unit; ?requesting department; ?requesting service; ?setor; ?org unit; ?organisational unit;
    ?organisation eenheid; ?organisation einheit; ?organisatieonderdeel; ?unidade organica; ?unidad organica; ?unite
    administrative; ?unidad administrativa; ?unidade administrativa; ?unita operativa; ?u o; ?oe; ?dienststelle; ?amt
    dienststelle; ?fachbereich; ?ufficio; ?struttura; ?pole; ?composante; ?entite; ?gerencia; ?concejalia;
    ?secretaria; ?lotacao; ?divisao; ?faculteit; ?faculty; ?fakultat; ?institut; ?team; ?directorate; ?dienst;
    ?unidade gestora; ?nome ug; ?organo contratante; ?orgao contratante; ?orgao; ?unidad promotora; ?bedarfstrager;
    ?service gestionnaire; ?service affectataire; ?requesting structure; ?service; ?unidade; ?setor responsible;
    ?betriebliche zuordnung; ?school; ?schule; ?ecole; ?laboratoire; ?escola; ?escuela; ?scuola; ?facolta; ?facultad;
    ?faculdade; ?ufficio assignee; ?managing area; ?amt; ?diretoria`,
  attached_supplier: `
    ${SELLERS}; supplier name; ?purchased from; supplied by; ?procured from; ?bezugsquelle; ?handler name; *supplier; ?sold
    by; ?supplied from; ?gekauft bei; ?gekocht bij; ?supplier company`,
  customer: '',
  usage_status: 'usage; use status; ?environment; einsatzstatus; ?status use; ?estado uso',
  address: 'street address; full address; site address; domicilio; ?address line 1; ?address 1',
  zip_code: 'post code; postal; cp; ?zip postal; cep; pin code; pincode',
  location_description: `
    location note; ?location; ?location code; ?site; ?site name; ?lagerort; ?asset location; ?current location;
    ?equipment location; ?device location; ?item location; ?office location; ?building location; ?location name; ?site
    location; ?lagerplatz; ?aufstellungsort; ?physical site; ?place; ?storage location; ?aufstellort; ?office; ?depot;
    ?ad site; ?standort raum; ?install location; ?installed location; ?campus; ?branch office; ?plant; ?werk;
    *location; ?location label; ?branch; ?filiale; ?local; ?yard; ?warehouse; ?location designation; ?technischer
    platz; ?branch agency; ?filial; ?sucursal; ?agence; ?agencia; ?lieu affectation; ?local instalacao; ?plaats
    toestel; ?local description; ?local physical`,
  asset_location_address: 'installation address',
  bldg_name: '?building number; ?site building; ?campus building; ?haus; ?gebaudeteil; ?bloco',
  floor: 'storey; floor number; ?floor level; ?geschosse; ?level',
  unit: 'unit number; suite; apartment',
  room: `
    room number; room name; ?ambiente; ?lab; ?bureau; ?room location; ?office number; ?buro; ?local; ?laboratory;
    ?raumbezeichnung; ?office; ?aula; ?despacho; ?piece; ?gabinete; office room`,
  street: 'street name; ?road; street number; ?via',
  area: '?zone; ?zona',
  general_info_notes: 'general information; general info',
  warranty_status: `
    in warranty; under warranty; ?warranty; sous garantie; en garantia; em garantia; warranty estado; warranty
    situation`,
  warranty_type: '?warranty',
  warranty_provider: `
    garantiegeber; ?warranty company; ?warranty by; garantieverlener; ?warranty dienst; ?garantia prestada por`,
  end_of_life_date: `
    ?expected end of life; ?planned end of life; ?estimated end of life; ?mise au rebut; lebensende; ?retirement date;
    ?planned retirement; ?disposal date; ?retire date; ?replacement date; ?date retired; ?expected replacement date;
    ?ausmusterung; ?date de fin de vie; ?fecha baja; ?deaktivierung; *end of life date; *end of life`,
  warranty_start_date: 'warranty from',
  warranty_end_date: `
    warranty until; warranty expiry; warranty expiry date; ?warranty; warranty valid until; garantiedatum bis;
    ?warranty date; garantie jusqu au; ?validade garantia; *warranty end date; *warranty expiry date; *warranty
    expiry; garantie lauft ab; end warranty`,
  warranty_contact_phone: 'warranty contact; warranty hotline',
  warranty_contact_email: 'warranty contact',
  warranty_notes: 'warranty description',
  support_status: 'in support; under support; ?support; em suporte; en soporte; support estado',
  support_type: '?support; ?support level',
  support_provider: `
    supported by; maintenance provider; ?service vendor; ?wartungsfirma; ?amc vendor; ?service partner; mainteneur;
    ?mantenedora; ?empresa mantenedora; manutentore; onderhoudspartij; maintained by; ?maintainer; ?prestador support;
    ?assistencia tecnica; ?asistencia tecnica`,
  end_of_support_date: `
    supportende; ?manufacturer support end; ?supplier support end; ?auto update expiry; ?auto update expiry date; eosl
    date; eosl; supported until; ?ondersteund tot`,
  support_start_date: 'support from; maintenance start; maintenance start date; ?amc start; ?amc start date',
  support_end_date: `
    support until; support expiry; support expiry date; maintenance end; maintenance end date; ?support; maintenance
    expiry; maintenance until; ?amc end; ?amc expiry; ?service expiry; ?service end; ?smartnet end; ?service level
    end; ?amc end date; ?amc until; ?maintenance contract end; ?maintenance contract end date; ?maintenance contract
    expiry`,
  support_contact_phone: 'support contact; support hotline',
  support_contact_email: 'support contact',
  support_notes: 'maintenance note',
  original_cost: `
    purchase price; ahk; acquisition cost; acquisition value; acquisition price; purchase value; unit cost; buy price;
    ?price; ?unit price; ?original value; historical cost; cost price; cost value; price paid; asset cost; equipment
    cost; neupreis; ?asset value; ?purchase amount; ?unit value; ?item cost; ?replacement cost; ?preis euro; ?valeur;
    -total cost; ?acquisition amount; -list price; *purchase price; *purchase cost; ?value historical; ?gross value;
    ?valeur brute; ?purchase herstellungskosten; ?ak hk; ?unit amount; ?amount unit; ?initial value; ?initial price;
    ?initial cost; -amount; ?valore di carico; ?pu; ?ak; ?valeur achat`,
  service_start_date: `
    in service; in service date; service date; commissioning date; put into service; date de mise en service; mise en
    service; fecha de puesta en servicio; ?deployment date; ?deployed; ?install date; ?installation date; ?go live
    date; commissioned; date commissioned; in use since; placed in service; date placed in service; in betrieb seit;
    ?date deployed; ?date installed; ?installed; ?installed on; -purchase date; -date acquisition; ?fecha alta;
    ?activation; ?activation date; ?data instalacao; entrata in funzione; data entrata in funzione; entrata in
    servizio; puesta en marcha; ?capitalized on; ?capitalised on; ?capitalization; ?aktivdatum; ?cap date; -date
    acquired; in service since; in service from; date puesta service; puesta funcionamiento; date puesta
    funcionamiento; date messa service; messa service; date messa usage; messa esercizio; date messa esercizio;
    entrada service; date entrada service; date entrada operacao; date start usage; date usage; in usage since; in
    gebruik sinds; indienststelling; date indienststelling; date in usage; ibn date; date ingebr; en service since;
    date puesta en funcionamiento; puesta en funcionamiento; date entrada em service; date entrada em operacao;
    entrada em service; entrada em funcionamento; ?entrada em producao; start usage; put to use date; put to use; put
    into use; ?rollout; ?rollout date; mis en service; date mis en service; in usage from`,
  depreciation_schedule: `
    depreciation; depreciation method; depreciation plan; depreciation plano; depreciation piano; depreciation table;
    depreciation tabla; ?depreciation period; ?depreciation duree; ?depreciation year; depreciation abschreibungsplan;
    abschreibungsplan; ?vida util; ?useful life; ?nutzungsdauer; ?nd; ?duree de vie; ?vita utile`,
  estimated_salvage_value: `
    salvage; residual; residual value; valeur residuelle; ?scrap value; schrottwert; ?valor de rescate; ?valore
    recupero; ?valore di realizzo`,
  financial_notes: 'finance note; cost note',
  'currency.value': 'currency code; cost currency; munteenheid',
  'currency.symbol': 'currency sign; simbolo moeda',
  new_hardware_selling_unit_price: `
    new hardware selling price; hardware selling price; ?selling price; ?selling unit price`,
  manufacturer_warranty_unit_price: 'manufacturer warranty price; ?warranty price',
  contract_service_per_item: 'service per item; contract service cost per item',
  sales_manager_name: 'account manager; ?sale contact; ?sale representative; ?manager comercial',
  sales_manager_email: 'account manager email; ?sale email; ?sale rep email',
  additional_sales_email: 'other sale email',
};

const CONTRACT: Vocabulary = {
  country: LOCATION['country']!,
  contract_type: `
    contract side; buy or sell; ?side; ?record type; buy side sell side; purchase sale; purchase or sale contract;
    attivo passivo`,
  name: `
    contract; contract title; title; ?application; ?short description; vertragsbezeichnung; bezeichnung; objet;
    subject; ?project name; ?project; ?project title; contract label; vertragsgegenstand; ?contract subject; ?award
    title; ?procurement title; ?project description title; ?objet du marche; ?software; ?product; ?product name;
    ?subscription; ?service name; ?record name; ?vertragsinhalt; ?descricao do contrato; ?app; ?app name; ?item;
    ?property; ?short text; ?kurztext; *contract name; *contract title; ?anlage; ?gerat; ?short name; kurzbezeichnung;
    ?voorwerp; ?voorwerp opdracht; ?oggetto affidamento; ?service provided; ?concepto`,
  number: `
    contract id; contract code; contract reference; reference number; award number; ?reference; ?unique id; ?po
    number; ?purchase order; ?purchase order number; ?bestellnummer; ?procurement id; ?award id; contract key;
    vertragskennung; numero de marche; ?award reference; ?procurement number; ?procurement reference; ?document
    number; ?contract identifier; ?cig; ?no dossier; ?no decision; ?aktenzeichen; ?order number; ?ocid; ?numero
    expediente; ?expediente; ?record id; ?policennummer; ?policy number; ?police number; *contract number; ?contrato;
    ?tender id; ?tender number; ?tender reference; ?notice identifier; ?notice number; ?circuit id; ?lease number;
    ?subscription id; ?work order number; ?purchase document; -id; ?contract kenmerk; ?repertorio; ?number repertorio;
    ?rep number; ?number expediente organo; -processo; -numero processo; ?contract code id; ?sow number`,
  parent_contract: `
    parent contract code; parent contract id; parent; parent no; msa; framework; framework agreement; primary
    contract; principal contract; ubergeordneter vertrag; ?framework agreement reference; ?msa reference; ?contrato
    mae; ?under msa`,
  customer: `
    ?client company; ?auftraggeber name; ?account name; ?account; ?buyer; ?auftraggeber; ?opdrachtgever; ?committente;
    ?acheteur; ?acheteur name; ?buyer name`,
  supplier: `
    ${SELLERS}; awarded supplier; awardee; ?counterparty; ?company; ?company name; ?recipient; contracting company;
    awardee name; ?awarded to; ?winner; ?winner name; ?winning bidder; ?successful bidder; ?contractor company;
    ?vertragspartner; ?service provider; ?publisher; ?manufacturer; ?payee; ?organisation name; ?partner;
    ?counterparty name; ?lizenzgeber; ?versicherer; ?assureur; ?insurer; ?licensor; ?aseguradora; *supplier name;
    ?empresa contratada; ?credor; ?prestador; *supplier; ?carrier; ?other party; ?second party; ?contract party;
    ?contracting party; ?empresa adjudicataria; ?wartungsfirma; ?brand name; controparte; wederpartij; cocontractant;
    gegenpartei; contraparte; ?operatore economico; ?affidatario; ?appaltatore; ?gegunde partij; ?supplier service;
    ?company name supplier; ?entity awardee; ?awardee entity`,
  status: `
    contract status; estado; estado del contrato; etat; ?contract state; ?active; current status; ?stato; ?phase;
    vertragsstand; ?state; ?lifecycle status; situacao do contrato; *contract status; ?contract zustand; ?stand`,
  'category.name': `
    contract category; ?commodity; ?spend category; ?class; ?expense type; ?contract type; ?procurement category;
    ?procurement type; ?product category; ?material group; ?warengruppe; ?service category; ?goods category; ?purchase
    category; -industry; -nature; ?sparte; ?service type; ?contract nature; ?contract group; ?purchase family;
    ?purchase package; ?contract characteristic; ?caracteristica contract; ?activity; ?type; ?process category;
    ?service line`,
  'category.subcategory': `
    sub category; sub; subcategory name; sous categorie; ?contract subtype; ?contract sub type; ?contract subtipo;
    subtipo`,
  description: `
    contract description; long description; scope; scope of work; ?summary; ?purpose; ?equipment; ?detail; ?zweck;
    ?objeto; ?service description; ?project description; contract detail; contract purpose; contract scope; texte du
    contrat; leistungsbeschreibung; ?note; ?work description; ?subject matter; ?goods; ?purchase order description;
    ?order description; ?description of goods; ?description of goods service; *contract description; ?short
    description; ?description service; description object; ?specification; kurzbeschreibung; ?service provided;
    leistungsumfang; ?oggetto bando; ?complementary information; ?informacao complementar; ?complement information;
    ?concepto`,
  business_unit: `
    bu; geschaftsbereich; organisationseinheit; unidad de negocio; ?dependencia; ?service area; ?department;
    ?department name; ?division; ?departement; ?agency; ?direction; ?area; ?owner department; -cost centre; -cost
    center; ?procuring agency; ?fachbereich; ?requesting department; ?requesting service; ?fachamt; ?zustandiges amt;
    ?ufficio; ?ufficio competente; ?org unit; ?organisational unit; ?organisation eenheid; ?organisation einheit;
    ?organisatieonderdeel; ?unidade organica; ?unidad organica; ?unite administrative; ?unidad administrativa;
    ?unidade administrativa; ?unita operativa; ?u o; ?oe; ?dienststelle; ?amt dienststelle; ?struttura; ?pole;
    ?composante; ?entite; ?gerencia; ?concejalia; ?secretaria; ?lotacao; ?divisao; ?faculteit; ?faculty; ?fakultat;
    ?institut; ?team; ?directorate; ?dienst; ?unidade gestora; ?nome ug; ?organo contratante; ?orgao contratante;
    ?orgao; ?unidad promotora; ?bedarfstrager; ?service gestionnaire; ?service affectataire; ?requesting structure;
    -service; ?setor; ?department requesting; ?service proponente; ?struttura proponente; ?centro seccion; ?unidade;
    ?area requesting; ?manager area; ?requesting; ?managing area; ?amt; ?fb amt; ?diretoria`,
  contract_start_date: `
    start; contract start; effective date; effective from; ?period performance start date; valid from; term start;
    laufzeit von; ?from; ?period from; -award date; contract effective date; valid since; entry into force; entree en
    vigueur; entrada en vigor; entrada em vigor; entrata in vigore; inkrafttreten; in effect from; in force from; date
    d effet; prise d effet; date de prise d effet; ?date from; -awarded date; ?active from; ?subscription start;
    -signed date; ?effective; ?start on; laufzeitbeginn; ?versicherungsbeginn; ?mietbeginn; data inicial; inicio
    vigencia; ?vigencia inicial; ?initial term start date; ?current term start date; *start date; *effective date;
    *validity from; validity start; ?contract period start; ?period start`,
  contract_end_date: `
    end; contract end; expiry; expiry date; ?period performance current end date; ?period performance end date;
    contract expiry; contract expiry date; termination date; valid until; valid to; term end; laufzeit bis; ?to;
    ?until; ?period to; ?completion date; contract termination date; in force until; laufzeitende; endet am; ?date to;
    ?active until; ?subscription end; ?close date; -renewal date; -estimated completion date; ?end on; ?maturity date;
    fecha de finalizacion; ?mietende; data final; data termino; fim vigencia; ?vigencia final; initial term end;
    ?initial term end date; ?current term end date; *end date; *expiry date; effective to; *validity to; looptijd tot;
    validity end; ?date end execution; ?end execution; ?al; ?contract period end; ?period end; ?delivery date`,
  notice_period: `
    notice; notice term; notice day; notice period day; termination notice; cancellation notice; frist; notice period
    in day; kundigungsfrist in tagen; delai de resiliation; ?length of notice; ?renewal notice; aviso previo; prazo de
    aviso; *notice period; *notice day; ?cancellation period; period aviso previo`,
  service_start_date: `
    service start; leistungsbeginn; ?service from; ?go live; ?go live date; ?installed; ?install date; ?start service;
    ?start prestation; start of service delivery; ?start execution; ?mobilisation date; ?mobilization date`,
  end_of_term_clause: `
    renewal clause; renewal type; ?renewal term; at end; renewal; auto renewal; auto renew clause; ?renewal option;
    prorroga automatica; ?renewal mode; ?evergreen`,
  end_of_term_action: 'renewal action; action at end; action expiry; ?renewal decision',
  timeline_notes: `
    timeline; renewal note; ?note term; ?note expiry; ?note deadline; ?extension option; ?extension`,
  total_contract_spend_value: `
    total; tcv; total award; auftragswert; auftragssumme; vertragssumme; vertragsvolumen; gesamtvolumen; montant du
    marche; montant ttc; montant ht; valor global; ?award; ?total ht; ?importe adjudicado; total rent; ?valor
    contratado; ?volumen; *contract value; *total value; *contract amount;
    ${combine('contract; total; total contract; award; awarded; total award', 'value; amount; price; cost; sum; spend; worth; obligation; commitment')};
    ${combine('?; ?contract; ?total; ?current; ?current contract; ?maximum; ?target; ?agreed; ?final; ?committed; ?base', 'value; amount; price; cost; spend; budget')}; ?auftragsvolumen;
    ?opdrachtwaarde; ?final purchase value; ?awarded import; ?award amount tax; ?whole life value; ?amt; contract
    amt; total amt; award amt`,
  first_offer_value: 'initial offer; original offer; ?initial proposal value; ?offer initial value',
  cost_avoidance_value: `
    cost avoided; saving; ?negotiated saving; vermiedene kosten; cout evite; custo evitado; costi evitati`,
  contract_risk_value: 'risk value; amount risk; value risk; risk amount',
  mrc: `
    cost month; price month; amount month; monthly recurring charge; monthly cost; monthly; monthly fee; ?monthly
    price; ?monthly charge; ?monatsrate; ?cuota mensual; ?loyer mensuel; ?monatsmiete; valor mensal; ?mensalidade;
    ?monthly rent; ?rent; ?loyer; ?mensualite; ?mensualidad; ?monatliche rate; ?monthly amount; ?monthly payment;
    ?contract monthly; ?total monthly; ?amount monthly; ?price monthly; ?mrr; ?fee month`,
  nrc: `
    non recurring charge; one time cost; one time; one off; one off cost; setup fee; setup cost; einmalkosten;
    einmalig; cout unique; coste unico; ?one time fee; ?installation cost; einmalige kosten; ?one time charge;
    ?einrichtungsgebuhr; ?una tantum; ?cost una tantum; ?pago unico; ?cuota de alta; ?einrichtungskosten; ?frais de
    mise en service; ?cost ponctuel; cost nao recorrente; ?installation fee; costos no recurrentes; cout non recurrent`,
  'expenditure_type.type': 'spend type; capex opex; ?expense type; ?cost type; ?investiv konsumtiv',
  'expenditure_type.capex_actual': 'capital expenditure; capex amount; capex value; capex cost; ?amount capex',
  'expenditure_type.opex_actual': `
    operating expenditure; opex amount; opex value; opex cost; ?amount opex; ?betriebskosten`,
  payment_terms: `
    payment condition; ?payment period; ?term; ?net term; default payment term; credit term; condicao de pagamento;
    ?zahlungsweise; ?forma de pago; ?mode de paiement; *payment term; ?payment`,
  financing: `
    financing type; ?funding; financing mode; financing form; financing method; ?finance method; purchase lease`,
  financial_notes: 'finance note; cost note; payment note',
  approver: 'approved by; genehmigt von; approver name; ?approved',
  signer: 'signed by; signatory; unterschrieben von; ?company signed by; signer name; signatory name; ?client signer',
  signed_date: `
    signed on; signature date; signing date; fecha de firma; ?execution date; ?abschlussdatum; ?contract date;
    ?company signed date; sign date; ?contract abschluss; ?vertragsabschluss; ?notification date`,
};

const COUNTERPARTY: Vocabulary = {
  ...LOCATION,
  state_province: `
    ${LOCATION['state_province']!}; ?etat; ?estado; ?entidad federativa; ?edo`,
  'category.name': `
    ?supplier category; ?customer category; ?classification; ?industry; ?type of supplier; ?business category;
    ?supplier group; ?customer group; -type; ?commodity; ?trade; ?spend category; ?famille; ?warengruppe; ?customer
    type; ?group; ?account type; ?activity domain; ?domaine activity; ?industry activity; ?giro; ?ramo activity;
    ?corps etat; ?activity sector; ?area atuacao; ?purchase family; ?segment`,
  'contact_person.name': `
    reference person; contact; contact full name; primary contact; attention; ?representative; ?account manager; key
    contact; main contact; ?contact first and last name; ?attn; ?representative name; ?relationship manager; ?point of
    contact; person name; *contact name; *contact person; ?name; ?responsible; ?responsible name; ?personne ressource;
    contactp; ?ap; ?representative comercial; person`,
  'contact_person.email': `
    contact; email; email address; contact email address; correo electronico; posta elettronica; adresse electronique;
    ?general email; ?info email; email id; company email; business email; work email; primary email; ?sale email;
    ?office email; ?order email; ?billing email; person email; ?person email work; *contact email; *email address;
    correio eletronico`,
  'contact_person.type': `
    contact role; contact function; ?function; ?job title; ?position; ?role; function contact; function contact
    person; function person contact; role contact; role contact person`,
  address_line_1: `
    address line; street; street address; street 1; street name; postal address; mailing address; strasse hausnummer;
    domicilio; ?building and street; ?head office address; line 1; full address; office address; business street;
    strasse und nummer; adresse postale; ?location address; ?physical address; ?registered address; ?registered
    office; ?site address; ?adresse siege; siege social; ?premise; ?invoice address; ?company address; ?address
    primary; ?voie; ?via; bezoekadres; ?visiting address; ?besuchsadresse; ?via civico`,
  address_line_2: `
    street 2; adresszusatz; complement d adresse; ?address suffix; ?suite; line 2; address suite; ?address extra;
    ?building; ?district; -zusatz; ?street address 2; complemento; ?bairro; ?complement; compl; ?colonia; ?cplt`,
  zip_postal_code: `
    post code; cp; ?pin; post zip code; zip postcode; pin code; pincode; postal; zip postal; cep; *postal code; *zip
    code; *postcode; *zip`,
  phone: `
    phone number; office phone; business phone; work phone; rufnummer; ?durchwahl; ?contact number; ?contact phone;
    ?contact phone number; ?contact person phone; ?switchboard; ?festnetz; ?landline; main phone; primary phone;
    company phone; phone 1; festnetznummer; ?central phone; ?sale phone; ?contact; ?contact office phone; telefono
    fijo; ?toll free; ?toll free phone; ?person phone; *phone number; ?phone fixe; ?phone fisso; ?phone bureau; ?phone
    office`,
  mobile: `
    mobile number; mobile phone; cellular; portable; phone portable; ?contact mobile; portable numero; gsm; ?whatsapp;
    contact cell phone; *mobile number; ?whats app; ?port; ?phone perso; ?phone personal; ?phone personnel`,
  fax: 'fax number; facsimile; *fax',
  website: `
    web site; web; url; homepage; http; home page; web page; webpage; web address; internet; internetseite; webseite;
    site internet; pagina web; ?domain; company website; website url; web site url; homepage url; internetadresse;
    ?link; ?domain name; ?company url; ?site; internet address; *website; *web site; www; webadres; ?pagina internet;
    ?page internet`,
  general_description: `
    about us; about; profile; company description; business description; ?note; ?service; ?product; ?services offered;
    overview; supplier description; company profile; presentation; ?information; ?additional note; ?business activity;
    ?activity; -industry; ?nature of business; ?specialty; ?specialisation; ?speciality; ?supplied product; ?product
    service; ?detail; ?solution; ?unternehmensgegenstand; ?ramo de atividade`,
  nda_signed: `
    nda in place; has nda; confidentiality agreement; confidentiality agreement signed; accord de confidentialite;
    accord de confidentialite signe; ?nda on file; nda vorhanden; geheimhoudingsverklaring; geheimhoudingsverklaring
    signed`,
  nda_signed_date: '?nda; ?nda signed; ?nda effective date; ?contract nda signed',
  msa_signed: 'msa in place; has msa; ?msa on file; msa vorhanden',
  msa_signed_date: '?msa; ?msa signed; ?msa effective date',
  supplementary_description: 'supplementary information',
  additional_description: 'additional information',
};

const COMPANY_NAMES = `
  company; company name; organisation; organisation name; business name; legal name; trading name; firmenbezeichnung;
  ?nombre fiscal; ?intitule; name 1; nome da empresa; denominacion social; account name; ?trade name; ?counterparty;
  ?partner name; ?merchant; ?payee; ?entity name; ?facility name; ?factory; ?factory name; ?plant name; ?entity;
  ?relation name; ?relatie name; ?fantasia name`;

const SUPPLIER: Vocabulary = {
  ...COUNTERPARTY,
  name: `
    ${SELLERS}; supplier; supplier name; ?manufacturer; ?manufacturer name; ?customer; ?customer name;
    lieferantenbezeichnung; name of provider; denomination; ?seller name; ?partner; ?subcontractor; legal business
    name; -contact name; ?etablissement; ?business; ?supplier company; ?facility; ?producer; ?brand; *supplier name;
    ${COMPANY_NAMES}; ?prestador; ?credor`,
  type: `
    us or foreign; domestic or foreign; inland ausland; nacional extranjero; nacional estrangeiro`,
  business_name: `
    business legal name; doing business as; dba; trading as; ?trade name; ?legal name; ?registered name; ?registered
    company name; ?nome fantasia; nombre comercial; nom commercial; ?fantasia; ?rechtlicher name; ?statutaire naam;
    ?firmierung; ?legal designation; ?designation legale; ?razon comercial`,
  business_address_line_1: `
    business address; business address 1; ?registered address; ?registered office; ?site legale`,
  business_address_line_2: 'business address 2',
  business_state_province: 'business state; business province',
  business_zip_postal_code: 'business zip; business zip code; business postal code; business postcode',
  // Nine characters fit many a register: only a heading that says so makes an EIN of them.
  ein: `
    ein number; fein; federal ein; employer identification number; employer id number; federal employer identification
    number; us employer identification number; federal tax id; federal tax identification number; federal id number`,
  financial_description: 'financial note; financial information; ?finance note',
};

const CUSTOMER: Vocabulary = {
  ...COUNTERPARTY,
  name: `
    customer; customer name; buyer; ?public body; ?public body name; ?debtor; ?supplier; ?supplier name; denomination;
    ?institution; -contact name; ?client company; ?establishment; ?etablissement; ?school name; ?authority; ?business;
    *customer name; ${COMPANY_NAMES}`,
};

export const VOCABULARY: Readonly<Record<ResourceName, Vocabulary>> = {
  asset: ASSET,
  contract: CONTRACT,
  supplier: SUPPLIER,
  customer: CUSTOMER,
};
