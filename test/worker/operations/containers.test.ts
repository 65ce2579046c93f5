import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../../src/runs/settings.js';

interface Service {
  readonly command?: readonly string[];
  readonly deploy?: { readonly replicas: number };
  readonly depends_on?: Record<string, { readonly condition: string }>;
  readonly environment?: Record<string, string>;
  readonly healthcheck: { readonly test: readonly string[] };
  readonly init?: boolean;
  readonly ports?: unknown;
  readonly privileged?: boolean;
  readonly profiles?: readonly string[];
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
  readonly user?: string;
  readonly volumes?: readonly (string | { readonly source: string; readonly read_only?: boolean })[];
}

describe('docker-compose.yml', async () => {
  const text = await readFile('docker-compose.yml', 'utf8');
  const { services, volumes } = parse(text) as { services: Record<string, Service>; volumes: Record<string, unknown> };
  const { redis, worker, sandbox } = services;

  it('starts Redis that keeps everything and asks for a password', () => {
    const command = redis?.command?.join('\n') ?? '';
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--maxmemory-policy noeviction');
    expect(command).toContain('requirepass');
    expect(command).not.toMatch(/--requirepass/);
    expect(redis?.environment?.['REDIS_PASSWORD']).toMatch(/^\$\{REDIS_PASSWORD:\?/);
    expect(redis?.ports).toBeUndefined();
  });

  it('starts two workers once Redis is healthy, and gives them time to end', () => {
    expect(worker?.deploy?.replicas).toBe(2);
    expect(worker?.depends_on).toEqual({ redis: { condition: 'service_healthy' } });
    expect(worker?.healthcheck.test.join(' ')).toContain('/healthz');
    expect(worker?.stop_grace_period).toBe('35s');
    expect(worker?.init).toBe(true);
    // Two containers cannot have one port of the host.
    expect(worker?.ports).toBeUndefined();
  });

  it('has the sandbox in a profile of its own', () => {
    expect(Object.keys(services)).toEqual(['redis', 'worker', 'sandbox']);
    expect(sandbox?.profiles).toEqual(['sandbox']);
    expect(sandbox?.command?.[0]).toBe('sandbox');
  });

  it.each(Object.entries(services))('keeps %s on a short leash', (_, service) => {
    expect(service.read_only).toBe(true);
    expect(service.privileged).toBeUndefined();
    expect(service.healthcheck.test.length).toBeGreaterThan(1);
  });

  it('reaches ./jobs (for reading) and ./inbox of the host only', () => {
    const mounts = Object.values(services).flatMap((service) => service.volumes ?? []);
    const host = mounts.flatMap((mount) =>
      typeof mount === 'string' ? [] : [`${mount.source} ${mount.read_only ?? false}`],
    );
    expect(host).toEqual(['./jobs true', './inbox false']);
    const named = mounts.flatMap((mount) => (typeof mount === 'string' ? [mount.split(':')[0]] : []));
    expect(named.sort()).toEqual(Object.keys(volumes).sort());
  });

  it('sets variables that there are', () => {
    const known = new Set<string>(SETTINGS.map(({ name }) => name));
    const used = [...text.matchAll(/\bROWFERRY_[A-Z_]+/g)].map(([name]) => name);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('Dockerfile', async () => {
  const text = await readFile('Dockerfile', 'utf8');
  const lines = text.replace(/\\\n/g, ' ').split('\n');
  const manifest = JSON.parse(await readFile('package.json', 'utf8')) as {
    scripts: Record<string, string>;
    bin: Record<string, string>;
    engines: { node: string };
  };
  const ignored = (await readFile('.dockerignore', 'utf8')).split('\n');

  it('copies what is there, and what .dockerignore lets through', () => {
    const sources = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(sources.length).toBeGreaterThan(5);
    for (const source of sources) {
      expect(existsSync(source), source).toBe(true);
      expect(ignored, source).toContain(`!${source}`);
    }
    // Never an .env of the person who builds it.
    expect(ignored[1]).toBe('*');
    expect(ignored).toContain('**/.env*');
  });

  it('runs scripts that there are', () => {
    const scripts = [...text.matchAll(/npm run (\S+)/g)].map(([, name]) => name ?? '');
    expect(scripts).toEqual(['build']);
    for (const script of scripts) expect(manifest.scripts[script], script).toBeDefined();
    for (const [, file] of manifest.scripts['build']?.matchAll(/(\S+\.(?:json|mjs))/g) ?? []) {
      expect(existsSync(file ?? ''), file).toBe(true);
    }
    expect(text).not.toMatch(/npm ci(?! --ignore-scripts)/);
  });

  it('starts the command of the package, as a user without rights', () => {
    expect(text).toContain(`ENTRYPOINT ["node", "${manifest.bin['rowferry']}"]`);
    expect(text).toContain('CMD ["worker"]');
    expect(text.lastIndexOf('\nUSER node\n')).toBeGreaterThan(text.lastIndexOf('\nFROM '));
    expect(text).toContain('\nHEALTHCHECK ');
    expect(Number(/NODE_VERSION=(\d+)/.exec(text)?.[1])).toBeGreaterThanOrEqual(20);
  });

  it('sets variables that there are', () => {
    const known = new Set<string>(SETTINGS.map(({ name }) => name));
    expect([...text.matchAll(/\bROWFERRY_[A-Z_]+/g)].filter(([name]) => !known.has(name))).toEqual([]);
  });
});
