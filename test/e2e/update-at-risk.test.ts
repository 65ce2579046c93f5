import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resourceSpec } from '../../src/resources/registry.js';
import { csv, type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf, PLAIN_CONTRACT } from '../support/jobs.js';
import { DEMO_MODELS, probed, type Resource, stored, storedOne, strangerHome, teach } from '../support/records.js';
import { roundTripTable } from '../support/resource-tables.js';
import { hangVeil } from '../support/veil.js';

let desk: Desk;

const NOTE = { asset: 'asset_notes', contract: 'timeline_notes', supplier: 'additional_description', customer: 'fax' };

const CONTRACT = { ...PLAIN_CONTRACT, name: 'Lease', number: 'L-1' };
const ASSET = { name: 'Rack 1', serial_number: 'S-1', category: { id: 3, subcategory: 'Rack' } };
const ALERT = {
  is_active: true,
  alert_days_before: 30,
  type: 'end_date',
  email_message: 'Soon',
  email_list: ['a@b.example'],
};

/** A desk with one supplier and one record; answers the record's id. */
async function deskWith(resource: Resource, body: object): Promise<number> {
  desk = await openDesk();
  desk.sandbox.insert('supplier', [{ name: 'Acme Computers' }]);
  return desk.sandbox.insert(resource, [body])[0]!;
}

/** Changes the notes of a record. */
async function touch(
  resource: Resource,
  id: number,
  write: object = {},
  env: Record<string, string> = {},
): Promise<Imported> {
  const file = await desk.file('touch.csv', [
    ['Id', 'Note'],
    [id, 'touched'],
  ]);
  return desk.import(file, touchJob(resource, write), { env });
}

function touchJob(resource: Resource, write: object = {}): object {
  const columns = { Id: 'id', Note: NOTE[resource] };
  return { kind: 'import', resource, match: { key: 'id' }, columns, write };
}

/** Warnings about what nobody can see. */
function unseen(result: Imported): readonly string[] {
  return result.summary.warnings.filter((text) => text.startsWith('Reads never show'));
}

type Holder = readonly [what: string, resource: Resource, body: object, faults: readonly string[]];

const LOSS = 'would_lose_value';
const HOLDERS: readonly Holder[] = [
  ['a contract with an approver', 'contract', { ...CONTRACT, approver: 'Ada' }, [`${LOSS} approver Ada`]],
  ['a contract with a signer', 'contract', { ...CONTRACT, signer: 'Bo' }, [`${LOSS} signer Bo`]],
  ['a signed contract', 'contract', { ...CONTRACT, signed_date: '5 May' }, [`${LOSS} signed_date 5 May`]],
  [
    'a contract with an alert',
    'contract',
    { ...CONTRACT, alert: ALERT },
    [
      `${LOSS} alert.is_active true`,
      `${LOSS} alert.alert_days_before 30`,
      `${LOSS} alert.type end_date`,
      `${LOSS} alert.email_message Soon`,
      `${LOSS} alert.email_list a@b.example`,
    ],
  ],
  ...['expired', 'draft', 'cancelled', 'suspended', 'terminated'].map(
    (status): Holder => [
      `a contract that is ${status}`,
      'contract',
      { ...CONTRACT, status },
      [`status_not_writable status ${status}`],
    ],
  ),
  ['an asset with an area', 'asset', { ...ASSET, area: 'North' }, [`${LOSS} area North`]],
  ['an asset with a state', 'asset', { ...ASSET, state_province: 'Bayern' }, [`${LOSS} state_province Bayern`]],
  [
    'an asset with a business entity',
    'asset',
    { ...ASSET, business_entity_type: 'GmbH' },
    [`${LOSS} business_entity_type GmbH`],
  ],
  [
    'an asset whose hardware model has no known id',
    'asset',
    { ...ASSET, asset_hardware_model: { id: 2 } },
    [`${LOSS} asset_hardware_model ThinkPad T14`],
  ],
  ['an asset in repair', 'asset', { ...ASSET, asset_usage_status: 5 }, [`${LOSS} usage_status In repair (5)`]],
  [
    'an asset with several of them',
    'asset',
    { ...ASSET, area: 'North', state_province: 'Bayern' },
    [`${LOSS} state_province Bayern`, `${LOSS} area North`],
  ],
];

describe('a row whose update would destroy a value is held back', () => {
  it('what the round-trip table says an update cannot carry is each held by a record below (30)', () => {
    const named = (resource: Resource) =>
      HOLDERS.filter((one) => one[1] === resource).flatMap((one) => one[3].map((fault) => fault.split(' ')[1]));
    for (const resource of ['asset', 'contract', 'supplier'] as const) {
      const lost = roundTripTable(resourceSpec(resource)).filter(
        (line) => line.operation === 'update' && line.class === 'not writable' && !line.field.startsWith('form.'),
      );
      expect(named(resource)).toEqual(expect.arrayContaining(lost.map((line) => line.field)));
    }
  });

  it('a hardware model without a known id: the ways out are named, the surest first', async () => {
    const id = await deskWith('asset', { ...ASSET, asset_hardware_model: { id: 2 } });
    const says = async (of: Promise<Imported>) => (await of).faults[0]?.['message'] ?? '';
    expect(await says(touch('asset', id))).toMatch(
      /Write its id, e\.g\. `id:17`, into a column that the job maps to asset_hardware_model\. Or `rowferry doctor --probe`/,
    );
    await probed(desk, { patch: true });
    expect(await says(touch('asset', id))).toMatch(
      /`id:17`, .* Or set `write: \{ method: patch \}` in the job.* `rowferry doctor --probe`/,
    );
    const columns = { Id: 'id', Note: 'asset_notes', Model: 'asset_hardware_model' };
    const job = { kind: 'import', resource: 'asset', match: { key: 'id' }, columns };
    const row = async (model: string) =>
      desk.import(await desk.file('m.csv', [Object.keys(columns), [id, 'touched', model]]), job);
    expect(await says(row(''))).toContain('into the column "Model"');
    expect((await row('id:2')).outcomes).toEqual(['2 updated']);
  });

  it.each(HOLDERS)('%s: named, nothing sent (30)', async (_, resource, body, faults) => {
    const id = await deskWith(resource, body);
    const before = stored(desk.sandbox, resource);
    const result = await touch(resource, id);
    expect([result.outcomes, result.commits, result.summary.requests.writes]).toEqual([['2 at_risk'], 0, 0]);
    const dry = await desk.import(join(desk.dir, 'touch.csv'), touchJob(resource), { dryRun: true });
    expect([dry.outcomes, dry.faults]).toEqual([result.outcomes, result.faults]);
    expect([result.exitCode, result.summary.status]).toEqual([3, 'partial']);
    expect(result.faults.map((one) => `${one['code']} ${one['field']} ${one['value']}`)).toEqual(faults);
    expect(stored(desk.sandbox, resource)).toEqual(before);
    expect(result.plan.filter((one) => one['kind'] === 'at_risk').map((one) => one['field'])).toEqual(
      faults.map((one) => one.split(' ')[1]),
    );
    for (const one of result.faults) expect(one['message']).toContain('rowferry doctor --probe');
    expect(result.results[0]!['message']).toContain('rowferry doctor --probe');
  });

  it.each(HOLDERS)(
    '%s: `warn` writes, and records what is lost in the plan and as a warning (30)',
    async (_, resource, body, faults) => {
      const id = await deskWith(resource, body);
      const result = await touch(resource, id, { at_risk: 'warn' });
      if (faults[0]!.startsWith('status')) {
        // No update can go without a status, and none is guessed: consent to losses does not cover it.
        expect([result.outcomes, result.summary.requests.writes, result.exitCode]).toEqual([['2 invalid'], 0, 3]);
        expect(result.faults.map((one) => one['code'])).toEqual(['status_not_writable']);
        return;
      }
      expect([result.outcomes, result.exitCode]).toEqual([['2 updated'], 0]);
      const risks = result.plan.filter((one) => one['kind'] === 'at_risk');
      expect(risks.map((one) => `${one['field']} ${one['old']} ${one['new']}`)).toEqual(
        faults.map((one) => `${one.slice(LOSS.length + 1)} `),
      );
      expect(result.results[0]!['codes']).toContain(LOSS);
      expect(storedOne(desk.sandbox, resource, id)).toMatchObject({ [NOTE[resource]]: 'touched' });
      // What was lost is gone for good: the next update has nothing to lose.
      const file = await desk.file('again.csv', [
        ['Id', 'Note'],
        [id, 'again'],
      ]);
      const next = await desk.import(file, importOf(resource, 'id', { Id: 'id', Note: NOTE[resource] }));
      expect(next.outcomes).toEqual(['2 updated']);
    },
  );

  it('an asset whose country is in no list: held, unless the row sets the country', async () => {
    const id = await deskWith('asset', { ...ASSET, country: 276 });
    const veil = await hangVeil(desk.sandbox.url, (text) => text.replaceAll('"Germany"', '"Atlantis"'));
    const env = { ROWFERRY_API_URL: veil.url };
    const before = stored(desk.sandbox, 'asset');
    const result = await touch('asset', id, {}, env);
    expect(result.outcomes).toEqual(['2 at_risk']);
    expect(result.faults.map((one) => `${one['code']} ${one['field']} ${one['value']}`)).toEqual([
      `${LOSS} country Atlantis`,
    ]);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
    const file = await desk.file('c.csv', [
      ['Id', 'Country'],
      [id, 'France'],
    ]);
    const job = { kind: 'import', resource: 'asset', match: { key: 'id' }, columns: { Id: 'id', Country: 'country' } };
    expect((await desk.import(file, job, { env })).outcomes).toEqual(['2 updated']);
    expect(storedOne(desk.sandbox, 'asset', id)).toEqual({ ...before.get(id), country: 250 });
  });

  it('a contract with a form that our own run wrote, which reads do not show (30)', async () => {
    desk = await openDesk({ responses: 'full' });
    desk.sandbox.insert('supplier', [{ name: 'Acme Computers' }]);
    const columns = {
      Type: 'contract_type',
      Name: 'name',
      No: 'number',
      S: 'supplier',
      C: 'country',
      St: 'status',
      From: 'contract_start_date',
      To: 'contract_end_date',
      Total: 'total_contract_spend_value',
      Note: 'timeline_notes',
      Owner: 'form.Renewal checklist.Owner',
    };
    const row = (note: string, owner: string) =>
      csv([
        Object.keys(columns),
        ['buy_side', 'Lease', 'L-1', '1', 'DE', 'active', '2024-01-01', '2026-01-01', '100', note, owner],
      ]);
    const job = { kind: 'import', resource: 'contract', match: { key: 'number' }, columns };
    expect((await desk.import(await desk.file('a.csv', row('one', 'Ada')), job)).outcomes).toEqual(['2 created']);
    const before = stored(desk.sandbox, 'contract');
    const held = await desk.import(await desk.file('b.csv', row('two', 'Ada')), job);
    expect(held.outcomes).toEqual(['2 at_risk']);
    expect(held.faults.map((one) => `${one['code']} ${one['field']} ${one['value']}`)).toEqual([
      `${LOSS} form.Renewal checklist.Owner Ada`,
    ]);
    const other = await desk.import(await desk.file('c.csv', row('one', 'Bo')), job);
    expect(other.outcomes).toEqual(['2 invalid']);
    expect(other.faults.map((one) => one['code'])).toEqual(['field_not_updatable']);
    expect(stored(desk.sandbox, 'contract')).toEqual(before);
    // Once it is destroyed with consent, nothing is left to hold the record back.
    const warned = await desk.import(await desk.file('b.csv', row('two', '')), { ...job, write: { at_risk: 'warn' } });
    expect(warned.outcomes).toEqual(['2 updated']);
    expect(warned.plan.map((one) => `${one['field']} ${one['kind']}`)).toContain(
      'form.Renewal checklist.Owner at_risk',
    );
    const free = await desk.import(await desk.file('d.csv', row('three', '')), job);
    expect(free.outcomes).toEqual(['2 updated']);
  });
});

describe('what an update cannot set is said, and only where it would change something', () => {
  const job = (columns: object) => importOf('contract', 'number', { No: 'number', ...columns });

  it.each([
    ['Type', 'contract_type', 'buy_side', 'sell_side', 'contract_type_change'],
    ['Approver', 'approver', 'Ada', 'Bo', 'field_not_updatable'],
    ['Signer', 'signer', 'Ada', 'Bo', 'field_not_updatable'],
    ['Signed', 'signed_date', 'May', 'June', 'field_not_updatable'],
    ['Status', 'status', 'active', 'expired', 'status_not_writable'],
  ])('%s of a contract', async (heading, field, same, other, code) => {
    await deskWith('contract', { ...CONTRACT, [field]: same });
    const before = stored(desk.sandbox, 'contract');
    const columns = { [heading]: field };
    const unchanged = await desk.import(
      await desk.file('a.csv', [
        ['No', heading],
        ['L-1', same],
      ]),
      job(columns),
    );
    expect([unchanged.outcomes, unchanged.faults]).toEqual([['2 unchanged'], []]);
    const refused = await desk.import(
      await desk.file('b.csv', [
        ['No', heading],
        ['L-1', other],
      ]),
      job(columns),
    );
    expect(refused.outcomes).toEqual(['2 invalid']);
    expect(refused.faults.map((one) => `${one['column']} ${one['code']} ${one['value']}`)).toEqual([
      `${heading} ${code} ${other}`,
    ]);
    expect([unchanged.commits, refused.commits]).toEqual([0, 0]);
    expect(stored(desk.sandbox, 'contract')).toEqual(before);
  });

  it('the type of a contract may stand in the file of an update', async () => {
    const id = await deskWith('contract', CONTRACT);
    const file = await desk.file('a.csv', 'No,Type,Note\r\nL-1,Buy-side,n');
    const result = await desk.import(file, job({ Type: 'contract_type', Note: 'timeline_notes' }));
    expect(result.outcomes).toEqual(['2 updated']);
    expect(storedOne(desk.sandbox, 'contract', id)).toMatchObject({ contract_type: 'buy_side', timeline_notes: 'n' });
  });

  it('an expired contract is written where the job says what its status becomes', async () => {
    const id = await deskWith('contract', { ...CONTRACT, status: 'expired' });
    const before = storedOne(desk.sandbox, 'contract', id);
    const file = await desk.file('a.csv', 'No,Status,Note\r\nL-1,over,n');
    const result = await desk.import(
      file,
      job({ Status: { field: 'status', values: { over: 'archived' } }, Note: 'timeline_notes' }),
    );
    expect(result.outcomes).toEqual(['2 updated']);
    expect(storedOne(desk.sandbox, 'contract', id)).toEqual({ ...before, status: 'archived', timeline_notes: 'n' });
  });

  it('a file that repeats the expired status changes nothing and is no fault', async () => {
    await deskWith('contract', { ...CONTRACT, status: 'expired' });
    const file = await desk.file('a.csv', 'No,Status\r\nL-1,expired');
    const result = await desk.import(file, job({ Status: 'status' }));
    expect([result.outcomes, result.commits]).toEqual([['2 unchanged'], 0]);
  });

  it('area, state and business entity of an asset', async () => {
    const id = await deskWith('asset', { ...ASSET, area: 'North' });
    const before = stored(desk.sandbox, 'asset');
    const assets = importOf('asset', 'id', {
      Id: 'id',
      Area: 'area',
      State: 'state_province',
      Entity: 'business_entity_type',
    });
    const result = await desk.import(
      await desk.file('a.csv', [
        ['Id', 'Area', 'State', 'Entity'],
        [id, 'South', 'WA', 'Inc'],
      ]),
      assets,
    );
    expect(result.outcomes).toEqual(['2 invalid']);
    expect(result.faults.map((one) => `${one['column']} ${one['code']}`)).toEqual([
      'Area field_not_updatable',
      'State field_not_updatable',
      'Entity field_not_updatable',
    ]);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });

  it('a usage status is written by its word; one without a word is a fault', async () => {
    const id = await deskWith('asset', ASSET);
    const before = storedOne(desk.sandbox, 'asset', id);
    const usage = async (cell: string) =>
      desk.import(
        await desk.file('u.csv', [
          ['Id', 'Use'],
          [id, cell],
        ]),
        { kind: 'import', resource: 'asset', match: { key: 'id' }, columns: { Id: 'id', Use: 'usage_status' } },
      );
    for (const [cell, status] of [
      ['Production', 1],
      ['2', 2],
      ['None', 3],
      ['Other', 4],
    ] as const) {
      expect((await usage(cell)).outcomes, cell).toEqual(['2 updated']);
      expect(storedOne(desk.sandbox, 'asset', id)).toEqual({ ...before, usage_status: status });
      expect((await usage(cell)).outcomes, cell).toEqual(['2 unchanged']);
    }
    const refused = await usage('In repair');
    expect([refused.outcomes, refused.commits]).toEqual([['2 invalid'], 0]);
    expect(refused.faults.map((one) => `${one['column']} ${one['code']} ${one['field']}`)).toEqual([
      'Use field_not_updatable usage_status',
    ]);
    desk.sandbox.edit('asset', id, { asset_usage_status: 5 });
    expect((await usage('In repair')).outcomes).toEqual(['2 unchanged']);
    expect((await usage('Production')).outcomes).toEqual(['2 updated']);
  });
});

describe('fields that reads never show', () => {
  const columns = {
    Serial: 'serial_number',
    Name: 'name',
    Cat: 'category.name',
    Inv: 'inventory_no',
    Mac: 'mac_address',
    Tag: 'ssb_tag',
    Uscp: 'uscp_no',
    Place: 'asset_physical_location',
    Make: 'make',
    Type: 'warranty_type',
  };
  const hidden = {
    inventory_no: 'I-1',
    mac_address: 'aa:bb',
    ssb_tag: 'S',
    uscp_no: 'U',
    asset_physical_location: 'Shelf',
    make: 7,
  };
  const whole = csv([
    Object.keys(columns),
    ['S-1', 'Box', 'Server', 'I-1', 'aa:bb', 'S', 'U', 'Shelf', '7', 'gold_level_support'],
  ]);
  const job = { kind: 'import', resource: 'asset', match: { key: 'serial_number' }, columns } as const;
  const touchJob = {
    kind: 'import',
    resource: 'asset',
    match: { key: 'serial_number' },
    columns: { Serial: 'serial_number', Name: 'name' },
  } as const;

  /** Reads as the interface documents them: warranty types beyond four are not shown. */
  async function narrowReads() {
    const veil = await hangVeil(desk.sandbox.url, (text) => text.replaceAll('"gold_level_support"', '"none"'));
    return { env: { ROWFERRY_API_URL: veil.url } };
  }

  it.each(['update', 'create'] as const)(
    'written by an earlier %s of ours: carried over by a later update, and the file that set them is unchanged (30)',
    async (how) => {
      desk = await openDesk({ responses: 'full' });
      const options = await narrowReads();
      if (how === 'update') desk.sandbox.insert('asset', [{ name: 'Old', serial_number: 'S-1', category: { id: 3 } }]);
      const file = await desk.file('whole.csv', whole);
      expect((await desk.import(file, job, options)).outcomes).toEqual([`2 ${how}d`]);
      const again = await desk.import(file, job, options);
      expect([again.outcomes, again.commits]).toEqual([['2 unchanged'], 0]);
      const touched = await desk.import(await desk.file('touch.csv', 'Serial,Name\r\nS-1,New'), touchJob, options);
      expect([touched.outcomes, unseen(touched)]).toEqual([['2 updated'], []]);
      expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({
        ...hidden,
        name: 'New',
        warranty_type: 'gold_level_support',
      });
      expect(touched.plan.map((one) => `${one['field']} ${one['kind']}`).sort()).toEqual([
        'asset_physical_location preserved',
        'inventory_no preserved',
        'mac_address preserved',
        'make preserved',
        'name set',
        'ssb_tag preserved',
        'uscp_no preserved',
        'warranty_type preserved',
      ]);
      const back = await desk.import(await desk.file('back.csv', whole.replace('aa:bb', 'cc:dd')), job, options);
      expect(
        back.plan.filter((one) => one['kind'] === 'set').map((one) => `${one['field']} ${one['old']} ${one['new']}`),
      ).toEqual(['name New Box', 'mac_address aa:bb cc:dd']);
      expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ ...hidden, mac_address: 'cc:dd', name: 'Box' });
    },
  );

  it('what reads would show and do not, somebody else took out: it is not put back', async () => {
    desk = await openDesk({ responses: 'full' });
    await desk.import(await desk.file('whole.csv', whole.replace('gold_level_support', 'oem')), job);
    desk.sandbox.edit('asset', 1, { warranty_type: 'none' });
    const touch = csv([
      ['Serial', 'Name'],
      ['S-1', 'New'],
    ]);
    expect((await desk.import(await desk.file('touch.csv', touch), touchJob)).outcomes).toEqual(['2 updated']);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ ...hidden, name: 'New', warranty_type: 'none' });
  });

  it('further custom field templates of an asset that shows one: warned of, and held back by `strict`', async () => {
    const templates = [{ id: 1, fields: [{ id: 1, value: 'CC-1' }] }];
    await deskWith('asset', { ...ASSET, templates });
    desk.sandbox.insert('asset', [{ ...ASSET, serial_number: 'S-2' }]);
    const shown = { Id: 'id', Make: 'make', Inv: 'inventory_no', Tag: 'ssb_tag', Mac: 'mac_address', Uscp: 'uscp_no' };
    const columns = { ...shown, At: 'asset_physical_location' };
    const row = (id: number) => [id, 'id:7', 'i', 's', 'm', 'u', 'a'];
    const file = await desk.file('a.csv', [Object.keys(columns), row(1), row(2)]);
    const job = { kind: 'import', resource: 'asset', match: { key: 'id' }, columns };
    const strict = await desk.import(file, { ...job, write: { at_risk: 'strict' } });
    expect(strict.outcomes).toEqual(['2 at_risk', '3 updated']);
    expect(strict.faults.map((one) => `${one['code']} ${one['field']}`)).toEqual(['would_lose_value template']);
    expect(strict.faults[0]?.['message']).toContain('Reads do not show further custom field templates,');
    const result = await desk.import(file, job);
    expect(result.outcomes).toEqual(['2 updated', '3 unchanged']);
    expect(unseen(result)[0]).toContain('further custom field templates');
  });

  it('written by nobody we know: one warning a run, however the rows differ; `strict` holds them back (30)', async () => {
    desk = await openDesk({ seed: 'demo' });
    await teach(desk, 'hardware-model', DEMO_MODELS);
    const rows = csv([
      ['Id', 'Note', 'Inv', 'Mac'],
      ...[12, 30, 36, 100].map((id) => [id, 'n', id === 30 ? 'I' : '', id === 36 ? 'M' : '']),
    ]);
    const file = await desk.file('a.csv', rows);
    const base = importOf('asset', 'id', { Id: 'id', Note: 'asset_notes', Inv: 'inventory_no', Mac: 'mac_address' });
    const before = stored(desk.sandbox, 'asset');
    const strict = await desk.import(file, { ...base, write: { at_risk: 'strict' } });
    expect(strict.summary.rows).toMatchObject({ at_risk: 4, updated: 0 });
    expect([strict.commits, strict.exitCode]).toEqual([0, 3]);
    for (const one of strict.faults)
      expect(`${one['code']} ${one['message']}`).toMatch(/^would_lose_value .*doctor --probe/);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
    const result = await desk.import(file, base);
    expect(result.summary.rows.updated).toBe(4);
    const warnings = unseen(result);
    expect(warnings).toHaveLength(1);
    for (const field of ['ssb_tag', 'uscp_no', 'make', 'asset_physical_location']) expect(warnings[0]).toContain(field);
    expect(warnings[0]).toContain('rowferry doctor --probe');
  });

  it('another home folder does not know them', async () => {
    desk = await openDesk({ responses: 'full' });
    await desk.import(await desk.file('whole.csv', whole), job);
    const touched = await desk.file('touch.csv', 'Serial,Name\r\nS-1,New');
    const stranger = await desk.import(touched, { ...touchJob, write: { at_risk: 'strict' } }, strangerHome(desk));
    expect(stranger.outcomes).toEqual(['2 at_risk']);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject(hidden);
  });
});

describe('what a probe found out is used', () => {
  it('fields that the service keeps are sent and are no longer at risk', async () => {
    const [asset, contract] = await twoHolders();
    desk.sandbox.setSwitches({ undocumentedOnPut: 'accepted' });
    await probed(desk, {
      putAccepts: [
        'area',
        'state_province',
        'business_entity_type',
        'approver',
        'signer',
        'signed_date',
        'form',
        'alert.is_active',
        'alert.alert_days_before',
        'alert.type',
        'alert.email_message',
        'alert.email_list',
      ],
    });
    for (const [resource, id] of [
      ['asset', asset],
      ['contract', contract],
    ] as const) {
      const before = storedOne(desk.sandbox, resource, id);
      const result = await touch(resource, id);
      expect([result.outcomes, result.plan.map((one) => one['kind'])]).toEqual([['2 updated'], ['set']]);
      expect(storedOne(desk.sandbox, resource, id)).toEqual({ ...before, [NOTE[resource]]: 'touched' });
    }
    const set = await desk.import(
      await desk.file('s.csv', [
        ['Id', 'Area'],
        [asset, 'South'],
      ]),
      { kind: 'import', resource: 'asset', match: { key: 'id' }, columns: { Id: 'id', Area: 'area' } },
    );
    expect(set.outcomes).toEqual(['2 updated']);
    expect(storedOne(desk.sandbox, 'asset', asset)).toMatchObject({ area: 'South', state_province: 'Bayern' });
  });

  it('where left-out fields are kept, nothing is at risk, and a clear is said in the body', async () => {
    const [asset, contract] = await twoHolders();
    desk.sandbox.setSwitches({ omittedOnPut: 'kept' });
    await probed(desk, { omitted: 'kept' });
    for (const [resource, id] of [
      ['asset', asset],
      ['contract', contract],
    ] as const) {
      const before = storedOne(desk.sandbox, resource, id);
      const result = await touch(resource, id);
      expect([result.outcomes, unseen(result)]).toEqual([['2 updated'], []]);
      expect(storedOne(desk.sandbox, resource, id)).toEqual({ ...before, [NOTE[resource]]: 'touched' });
    }
    await clearsAll(asset, 'put');
  });

  it('where left-out fields are kept, an expired contract is held back: a PUT must say a status, and cannot say this one', async () => {
    const id = await deskWith('contract', { ...CONTRACT, status: 'expired' });
    desk.sandbox.setSwitches({ omittedOnPut: 'kept' });
    await probed(desk, { omitted: 'kept' });
    const before = storedOne(desk.sandbox, 'contract', id);
    const result = await touch('contract', id);
    expect([result.outcomes, result.commits]).toEqual([['2 at_risk'], 0]);
    expect(storedOne(desk.sandbox, 'contract', id)).toEqual(before);
  });

  it('a clear that the service did not carry out stops the run and is not reported as done', async () => {
    desk = await openDesk({ switches: { omittedOnPut: 'kept' } });
    desk.sandbox.insert(
      'asset',
      [1, 2, 3].map((n) => ({ ...ASSET, serial_number: `S-${n}`, city: 'Ulm' })),
    );
    const file = await desk.file('c.csv', 'Id,City\r\n1,\r\n2,\r\n3,');
    const result = await desk.import(file, importOf('asset', 'id', { Id: 'id', City: 'city' }, { blank: 'clear' }));
    expect([result.exitCode, result.commits, result.summary.rows.not_attempted]).toEqual([1, 1, 2]);
    expect(result.summary.reason).toContain('city');
    expect(result.faults.length + result.results.filter((row) => row['codes'] !== '').length).toBeGreaterThan(0);
  });

  it('PATCH only where a probe found it: the job is refused before, and sends only what changes after', async () => {
    const [asset] = await twoHolders();
    await expect(touch('asset', asset, { method: 'patch' })).rejects.toThrow(/doctor --probe/);
    expect(desk.sandbox.commits).toEqual([]);
    await probed(desk, { patch: true });
    const before = storedOne(desk.sandbox, 'asset', asset);
    const result = await touch('asset', asset, { method: 'patch' });
    expect([result.outcomes, unseen(result)]).toEqual([['2 updated'], []]);
    const [commit] = desk.sandbox.commits;
    expect([commit!.method, JSON.parse(commit!.body!)]).toEqual(['PATCH', { company: 1, asset_notes: 'touched' }]);
    expect(storedOne(desk.sandbox, 'asset', asset)).toEqual({ ...before, asset_notes: 'touched' });
    await clearsAll(asset, 'patch');
  });

  it('a part of a compound is patched together with its other parts', async () => {
    const [asset] = await twoHolders();
    await probed(desk, { patch: true });
    const before = storedOne(desk.sandbox, 'asset', asset);
    const file = await desk.file('p.csv', [
      ['Id', 'Symbol', 'Sub', 'Cost Centre', 'Rack'],
      [asset, 'Fr.', 'Blade', 'CC-2', 'B2'],
    ]);
    const result = await desk.import(file, {
      kind: 'import',
      resource: 'asset',
      match: { key: 'id' },
      write: { method: 'patch' },
      columns: {
        Id: 'id',
        Symbol: 'currency.symbol',
        Sub: 'category.subcategory',
        'Cost Centre': 'template.Finance.Cost Centre',
        Rack: 'form.Data centre.Rack',
      },
    });
    expect(result.outcomes).toEqual(['2 updated']);
    expect(storedOne(desk.sandbox, 'asset', asset)).toEqual({
      ...before,
      currency: { value: 'Franc', symbol: 'Fr.' },
      category: { category: 3, subcategory: 'Blade' },
      template: [
        {
          template: 1,
          values: [
            [1, 'CC-2'],
            [2, '12.50'],
          ],
        },
      ],
      form_template: [
        {
          form: 1,
          parent: false,
          sequence: 1,
          values: [
            [101, 'B2'],
            [102, 4],
          ],
        },
      ],
    });
  });

  const FULL = {
    ...ASSET,
    area: 'North',
    state_province: 'Bayern',
    business_entity_type: 'GmbH',
    city: 'Ulm',
    country: 276,
    original_cost: 12.5,
    currency: { value: 'Franc', symbol: 'CHF' },
    warranty_end_date: '2030-01-01',
    asset_owner: 3,
    asset_usage_status: 1,
    asset_hardware_model: { id: 1 },
    templates: [
      {
        id: 1,
        fields: [
          { id: 1, value: 'CC-1' },
          { id: 2, value: 12.5 },
        ],
      },
    ],
    form_template: [{ id: 1, custom_form_data: { Rack: 'A1', Unit: 4 } }],
  };

  async function twoHolders(): Promise<readonly [number, number]> {
    const asset = await deskWith('asset', FULL);
    await teach(desk, 'hardware-model', DEMO_MODELS);
    const [contract] = desk.sandbox.insert('contract', [
      { ...CONTRACT, approver: 'Ada', signer: 'Bo', signed_date: 'May', alert: ALERT },
    ]);
    return [asset, contract!];
  }

  async function clearsAll(id: number, method: string): Promise<void> {
    const cleared = [
      'city',
      'country',
      'original_cost',
      'currency.value',
      'currency.symbol',
      'warranty_end_date',
      'asset_owner',
      'usage_status',
      'asset_hardware_model',
      'template.Finance.Budget',
      'form.Data centre.Unit',
      'category.subcategory',
    ];
    const before = storedOne(desk.sandbox, 'asset', id);
    for (const name of [
      'city',
      'country',
      'original_cost',
      'currency',
      'warranty_end_date',
      'asset_owner',
      'usage_status',
      'asset_hardware_model',
    ])
      delete before[name];
    const columns = Object.fromEntries([['Id', 'id'], ...cleared.map((field) => [`Clear ${field}`, field])]);
    const file = await desk.file('clear.csv', [Object.keys(columns), [id, ...cleared.map(() => '')]]);
    const job = { kind: 'import', resource: 'asset', match: { key: 'id' }, blank: 'clear', write: { method }, columns };
    const result = await desk.import(file, job);
    expect([result.outcomes, result.exitCode, result.summary.reason]).toEqual([['2 updated'], 0, undefined]);
    const after = storedOne(desk.sandbox, 'asset', id);
    for (const name of ['currency'])
      if (JSON.stringify(after[name]) === '{"value":null,"symbol":null}') delete after[name];
    expect(after).toEqual({
      ...before,
      category: { category: 3, subcategory: null },
      template: [{ template: 1, values: [[1, 'CC-1']] }],
      form_template: [{ form: 1, parent: false, sequence: 1, values: [[101, 'A1']] }],
    });
    expect((await desk.import(file, job)).outcomes).toEqual(['2 unchanged']);
  }
});
