/** Contracts of the demo company, as create bodies: C-1001 to C-1060, and a second C-1050. */

const SUBJECTS = [
  { subject: 'Laptop leasing', category: 1, subcategory: 'Business' },
  { subject: 'Network maintenance', category: 4, subcategory: 'Switch' },
  { subject: 'Helpdesk services', category: 9, subcategory: 'Consulting' },
  { subject: 'Mobile telephony', category: 9, subcategory: 'Telecom' },
  { subject: 'Server maintenance', category: 3, subcategory: 'Rack' },
  { subject: 'Building services', category: 10, subcategory: null },
  { subject: 'Réseau étendu', category: 4, subcategory: 'Router' },
  { subject: 'Cloud subscription', category: 8, subcategory: 'Subscription' },
  { subject: 'Spare parts', category: 2, subcategory: 'Workstation' },
  { subject: 'Freight and logistics', category: 9, subcategory: 'Maintenance' },
];

/** Every sixth is not active: updates accept only active and archived. */
const RARE_STATUSES = ['expired', 'draft', 'archived', 'terminated', 'suspended', 'cancelled'];

const COUNTRIES = [840, 276, 250, 392, 76, 124, 616, 826];

/** Amounts are JSON numbers as text, to the cent. */
function amounts(number: number): string {
  const total = 12_000 + number * 1_250;
  const parts = [
    `"total_contract_spend_value":${total}.50`,
    `"mrc":${(total / 50).toFixed(2)}`,
    `"nrc":${(number % 4) * 100}.25`,
  ];
  if (number % 7 === 0) {
    parts.push(
      `"expenditure_type":{"type":"blended","capex_actual":${total - 2_000}.25,"opex_actual":2000.25}`,
      `"first_offer_value":${total + 1_500}.00`,
    );
  } else if (number % 5 === 0) parts.push(`"expenditure_type":{"type":"opex","opex_actual":${total}.50}`);
  return parts.join(',');
}

function contractText(number: number, id: string, variant = ''): string {
  const { subject, category, subcategory } = SUBJECTS[number % SUBJECTS.length]!;
  const sellSide = number % 12 === 4;
  const year = 2022 + (number % 3);
  const month = String((number % 12) + 1).padStart(2, '0');
  const body: Record<string, unknown> = {
    contract_type: sellSide ? 'sell_side' : 'buy_side',
    name: `${subject} ${id}${variant}`,
    number: id,
    ...(sellSide ? { customer: (number % 4) + 1 } : { supplier: ((number - 1) % 20) + 1 }),
    // C-1001 is the frame under which a few others stand.
    ...(number >= 2 && number <= 6 ? { parent_contract: 1 } : {}),
    country: COUNTRIES[number % COUNTRIES.length],
    status: number % 6 === 0 ? RARE_STATUSES[(number / 6 - 1) % RARE_STATUSES.length] : 'active',
    category: { id: category, subcategory },
    description: number % 3 === 0 ? `${subject} – renewed every three years; contact: Zoë Müller` : null,
    business_unit: (number % 4) + 1,
    contract_start_date: `${year}-${month}-01`,
    contract_end_date: `${year + 3}-${month}-01`,
    service_start_date: `${year}-${month}-15`,
    notice_period: 30 + (number % 3) * 30,
    end_of_term_clause: number % 2 === 0 ? 'auto_renewed' : 'auto_expires',
    end_of_term_action: number % 2 === 0 ? 'renegotiate' : 'allow_expiration',
    payment_terms: ['net_30', 'net_45', 'net_60', 'custom'][number % 4],
    financing: ['self_paid', 'leased', 'financed'][number % 3],
    ...(number % 10 === 9
      ? {
          alert: {
            is_active: true,
            alert_days_before: 60,
            type: 'notice_date',
            email_message: `Notice for ${id} is due`,
            email_list: ['ada.park@northwind.example', 'elena.rossi@northwind.example'],
          },
        }
      : {}),
    ...(number % 15 === 11 ? { approver: 'Ada Park', signer: 'Elena Rossi', signed_date: `${year}-${month}-01` } : {}),
    ...(number % 4 === 1
      ? {
          template: {
            id: 2,
            fields: [
              { id: 11, value: `PO-${20_000 + number}` },
              { id: 12, value: 250 * number },
              { id: 13, value: `${year}-${month}-20` },
              { id: 14, value: (number % 5) + 1 },
            ],
          },
        }
      : {}),
  };
  return `{${amounts(number)},${JSON.stringify(body).slice(1)}`;
}

export const CONTRACTS: readonly string[] = [
  ...Array.from({ length: 60 }, (_, index) => contractText(index + 1, `C-${1001 + index}`)),
  contractText(50, 'C-1050', ' (second copy)'),
];

/** Refers to the archived company's supplier by the id it gets. */
export const archivedContract = (supplier: number): object => ({
  company: 2,
  contract_type: 'buy_side',
  name: 'Legacy hosting',
  number: 'A-0001',
  supplier,
  country: 840,
  status: 'archived',
  contract_start_date: '2015-01-01',
  contract_end_date: '2018-01-01',
  total_contract_spend_value: 4800,
});
