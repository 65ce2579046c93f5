import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inspectQueue } from '../../src/api/client.js';
import { RunError } from '../../src/model/error.js';
import { checkQueue, checksExitCode, probeBlockers, runChecks } from '../../src/runs/doctor/checks.js';
import { runProbe } from '../../src/runs/doctor/probe.js';
import { resolveSettings } from '../../src/runs/settings.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { serviceName } from '../../src/service/address.js';
import { loadBehaviour } from '../../src/service/known-ids.js';
import { freePort } from '../support/server-process.js';
import { itWith, privateRedis } from '../support/servers.js';
import { hangVeil } from '../support/veil.js';

const itWithRedis = await itWith('redis');

const TOKEN = 'planted-token-4711';

let cwd: string;
let sandbox: Sandbox | undefined;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-doctor-'));
});
afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
  await rm(cwd, { recursive: true, force: true });
});

async function settingsOn(options: SandboxOptions = {}, env: Record<string, string> = {}) {
  sandbox = await startSandbox({ token: TOKEN, seed: 'demo', ...options });
  return resolveSettings({ ROWFERRY_API_URL: sandbox.url, ROWFERRY_API_TOKEN: TOKEN, ...env }, {}, cwd);
}

const look = async (settings: Parameters<typeof runChecks>[0]) => {
  const checks = await runChecks(settings, { inspectQueue });
  return { checks, code: checksExitCode(checks), named: (name: string) => checks.find((check) => check.name === name) };
};

describe('doctor', () => {
  it('finds all well against a service that is', async () => {
    const { checks, code, named } = await look(await settingsOn());
    expect(checks.filter((check) => check.state !== 'ok')).toEqual([]);
    expect(code).toBe(0);
    expect(named('company')?.found).toBe('1 "Northwind Operations"');
    // Nothing is left behind by looking.
    expect(await readdir(cwd)).toEqual([]);
  });

  it('never shows the token', async () => {
    const { checks, named } = await look(await settingsOn());
    expect(JSON.stringify(checks)).not.toContain(TOKEN);
    expect(named('settings')?.found).toContain('sign-in by ROWFERRY_API_TOKEN');
  });

  it('tells a refused token from a service that is away', async () => {
    const settings = await settingsOn();
    const refused = await look({ ...settings, auth: { kind: 'token', token: 'another-token' } });
    expect(refused.code).toBe(1);
    expect(refused.named('service')?.state).toBe('ok');
    expect(refused.named('token')?.state).toBe('bad');
    expect(refused.named('company')).toBeUndefined();

    await sandbox?.close();
    sandbox = undefined;
    const away = await look(settings);
    expect(away.code).toBe(1);
    expect(away.named('service')).toMatchObject({ state: 'bad', advice: expect.stringContaining('ROWFERRY_API_URL') });
    expect(away.named('token')).toBeUndefined();
  });

  it('tells that no token was to be had from a service that is away', async () => {
    const settings = await settingsOn();
    const lost = await look({ ...settings, auth: { kind: 'file', path: join(cwd, 'none') } });
    expect(lost.named('token')).toMatchObject({ state: 'bad', advice: expect.stringContaining('TOKEN_FILE') });
    const oauth = {
      kind: 'oauth',
      tokenUrl: `${sandbox?.url}/token`,
      clientId: 'me',
      clientSecret: 'hunter22',
    } as const;
    const refused = await look({ ...settings, auth: oauth });
    expect(refused.named('token')).toMatchObject({ state: 'bad', advice: expect.stringContaining('ROWFERRY_OAUTH_') });
    expect([lost, refused].map(({ code, named }) => [code, named('service')])).toEqual([
      [1, undefined],
      [1, undefined],
    ]);
  });

  it('names a company that is archived, and what there is where it does not exist', async () => {
    const settings = await settingsOn();
    const archived = await look({ ...settings, company: 2 });
    expect(archived.code).toBe(1);
    expect(archived.named('company')?.found).toContain('is archived, not active');
    const missing = await look({ ...settings, company: 99 });
    expect(missing.named('company')?.found).toContain('there are: 1 "Northwind Operations"');
  });

  it('lets the probe depend on what it needs alone', async () => {
    const settings = await settingsOn();
    expect(probeBlockers((await look(settings)).checks)).toEqual([]);
    expect(probeBlockers((await look({ ...settings, company: 2 })).checks)).toEqual(['company']);
    expect(probeBlockers((await look(new RunError('usage', 'Wrong.'))).checks)).toEqual(['settings']);
    await writeFile(join(cwd, 'file'), '');
    expect(probeBlockers((await look({ ...settings, home: join(cwd, 'file', 'home') })).checks)).toEqual([
      'data folder',
    ]);
  });

  it.runIf(process.platform === 'linux')('ends where the data folder can never be made', async () => {
    const { code, named } = await look(await settingsOn({}, { ROWFERRY_HOME: '/proc/rowferry/home' }));
    expect(code).toBe(1);
    expect(named('data folder')).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('/proc/rowferry cannot be made'),
    });
  });

  it('says that the data folder cannot be written', async () => {
    await writeFile(join(cwd, 'file'), '');
    const settings = await settingsOn({}, { ROWFERRY_HOME: join(cwd, 'file', 'home') });
    const { named, code } = await look(settings);
    expect(code).toBe(1);
    expect(named('data folder')).toMatchObject({ state: 'bad', advice: expect.stringContaining('ROWFERRY_HOME') });
  });

  it('looks at the drop folder and the jobs folder, which the probe does without', async () => {
    await writeFile(join(cwd, 'file'), '');
    const away = { ROWFERRY_INBOX: join(cwd, 'file', 'inbox'), ROWFERRY_JOBS_DIR: join(cwd, 'file') };
    const { named, code, checks } = await look(await settingsOn({}, away));
    expect(code).toBe(1);
    expect(named('drop folder')?.found).toContain(`The drop folder ${join(cwd, 'file')} cannot be made`);
    expect(named('drop folder')?.advice).toContain('--inbox or ROWFERRY_INBOX');
    expect(named('jobs folder')?.found).toContain(`The jobs folder ${join(cwd, 'file')} cannot be read`);
    expect(named('jobs folder')?.advice).toContain('ROWFERRY_JOBS_DIR');
    expect(probeBlockers(checks)).toEqual([]);
  });

  it('ends with 2 where settings are wrong or missing, and still looks at the rest', async () => {
    const wrong = await look(new RunError('usage', 'A setting is wrong.', ['ROWFERRY_X is no variable of rowferry']));
    expect(wrong.code).toBe(2);
    expect(wrong.named('settings')?.found).toContain('ROWFERRY_X');
    const missing = await look(resolveSettings({}, {}, cwd));
    expect(missing.code).toBe(2);
    expect(missing.named('settings')?.found).toContain('ROWFERRY_API_URL is not set');
    expect(missing.named('data folder')?.state).toBe('ok');
  });

  it('opens the queue that is set, and not the embedded one', async () => {
    expect((await checkQueue(resolveSettings({}, {}, cwd), inspectQueue)).found).toContain('embedded');
    expect(existsSync(join(cwd, '.rowferry'))).toBe(false);
    const away = await freePort();
    const settings = resolveSettings({ ROWFERRY_QUEUE_URL: `redis://:pa55word@127.0.0.1:${away}` }, {}, cwd);
    const found = await checkQueue(settings, inspectQueue);
    expect(found).toMatchObject({ state: 'bad', found: expect.stringContaining('ECONNREFUSED') });
    expect(JSON.stringify(found)).not.toContain('pa55word');
  });

  itWithRedis('finds a queue that is there, and counts its workers', async () => {
    const redis = await privateRedis();
    try {
      const found = await checkQueue(resolveSettings({ ROWFERRY_QUEUE_URL: redis.url }, {}, cwd), inspectQueue);
      expect(found).toMatchObject({ state: 'ok', found: expect.stringContaining('no workers are connected') });
    } finally {
      await redis.stop();
    }
  });
});

describe('the probe', () => {
  const probe = async (options: SandboxOptions = {}, lagMs = 5000) => {
    const settings = await settingsOn(options);
    const result = await runProbe(settings, { lagMs });
    const text = (about: string) => result.findings.find((finding) => finding.about === about)?.text;
    return { settings, result, behaviour: result.behaviour, text };
  };

  it('finds out how the sandbox behaves as it comes, keeps it, and says what stays', async () => {
    const { settings, behaviour, result, text } = await probe();
    expect(behaviour).toMatchObject({ putAccepts: [], omitted: 'nulled', patch: true, uniqueField: 'rejects' });
    expect(behaviour.filters).toEqual({
      'asset.serial_number': 'exact',
      'asset.name': 'exact',
      'asset.asset_tag': 'exact',
      'asset.manufacturer_name': 'exact',
      'contract.contract_no': 'exact',
      'contract.name': 'exact',
    });
    expect(loadBehaviour(settings.home, serviceName(settings.apiUrl ?? '', 1))).toEqual(behaviour);
    expect(text('PUT with area')).toContain('emptied');
    expect(result.leftBehind).toHaveLength(2);
    const assets = sandbox!.records('asset');
    expect(assets.filter((asset) => String(asset['name']).startsWith('rowferry probe'))).toHaveLength(1);
    expect(result.leftBehind[0]).toContain(String(assets.at(-1)?.['name']));
    expect(String(assets.at(-1)?.['asset_notes'])).toContain('rowferry doctor --probe');
    expect(sandbox!.records('contract').at(-1)).toMatchObject({ status: 'archived' });
    expect((await readFile(join(settings.home, 'home.db'))).includes(TOKEN)).toBe(false);
  });

  it('finds fields that a PUT takes although the interface does not list them', async () => {
    const { behaviour } = await probe({ switches: { undocumentedOnPut: 'accepted' } });
    expect([...behaviour.putAccepts].sort()).toEqual(
      ['approver', 'area', 'business_entity_type', 'signed_date', 'signer', 'state_province'].sort(),
    );
  });

  it('finds that such fields are refused, and tries them one by one', async () => {
    const { behaviour, text } = await probe({ switches: { undocumentedOnPut: 'rejected' } });
    expect(behaviour.putAccepts).toEqual([]);
    expect(text('PUT with area')).toContain('is refused');
  });

  it('finds that a PUT keeps what it leaves out', async () => {
    const { behaviour, text } = await probe({ switches: { omittedOnPut: 'kept' } });
    expect(behaviour.omitted).toBe('kept');
    expect(behaviour.putAccepts).toContain('area');
    expect(text('PUT with area')).toContain('keeps its old value');
  });

  it.each([
    ['contains', 'contains'],
    ['ignore_case', 'ignores_case'],
    ['ignored', 'ignored'],
  ] as const)('finds that filters are %s', async (filters, expected) => {
    const { behaviour } = await probe({ switches: { filters } });
    expect(behaviour.filters?.['asset.serial_number']).toBe(expected);
    expect(behaviour.filters?.['contract.contract_no']).toBe(expected);
  });

  it.each(['upserts', 'ignored'] as const)('finds that unique_field is %s', async (uniqueField) => {
    const { behaviour, result } = await probe({ switches: { uniqueField } });
    expect(behaviour.uniqueField).toBe(uniqueField);
    expect(result.leftBehind).toHaveLength(uniqueField === 'ignored' ? 3 : 2);
  });

  it('finds that PATCH does not work', async () => {
    const { behaviour } = await probe({ switches: { patch: 'off' } });
    expect(behaviour.patch).toBe(false);
  });

  it('knows its records again where the service keeps texts in capitals', async () => {
    const settings = await settingsOn();
    const veil = await hangVeil(sandbox!.url, (text) =>
      text.replace(/(?<="(?:asset_notes|serial_number|number|description)":)"[^"]*"/g, (value) => value.toUpperCase()),
    );
    const { behaviour } = await runProbe({ ...settings, apiUrl: veil.url }, { lagMs: 300 });
    expect(behaviour).toMatchObject({ putAccepts: [], omitted: 'nulled', patch: true, uniqueField: 'rejects' });
  });

  it('waits for look-ups that lag, and does without answers', async () => {
    const { behaviour } = await probe({ responses: 'bare', switches: { lag: 1200, filters: 'ignored' } });
    expect(behaviour.omitted).toBe('nulled');
  });

  it('leaves nothing behind where the service refuses the scratch asset', async () => {
    const settings = await settingsOn({ faults: ['POST /asset status=422'] });
    await expect(runProbe(settings, { lagMs: 100 })).rejects.toThrow(/scratch asset was not accepted/);
    expect(sandbox!.commits).toEqual([]);
    expect(await readdir(cwd)).toEqual([]);
  });

  it('names the scratch asset that may be there although its create was not answered well', async () => {
    const settings = await settingsOn({ faults: ['POST /asset close_after'] });
    const { message } = await runProbe(settings, { lagMs: 100 }).then(
      () => ({ message: '' }),
      (error: Error) => error,
    );
    expect(sandbox!.commits.map(({ id }) => sandbox!.record('asset', id)?.['name'])).toEqual([
      /as "(.+)"\.$/.exec(message)?.[1],
    ]);
  });

  it('keeps what the asset taught where the contract cannot be tried', async () => {
    const { behaviour, text } = await probe({ faults: ['POST /contract status=422'] });
    expect(behaviour.omitted).toBe('nulled');
    expect(text('contract')).toContain('could not be tried');
  });
});
