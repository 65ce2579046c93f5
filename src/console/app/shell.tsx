import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Session } from '../../api/schema.js';
import { Icon, type IconName } from '../kit/icons.js';
import { Button } from '../kit/parts.js';
import { type Query, send } from './client.js';
import { type Shortcut, useShortcuts } from './keys.js';
import { sessionQuery } from './queries.js';

const PLACES: readonly {
  readonly href: string;
  readonly word: string;
  readonly icon: IconName;
  readonly key: string;
}[] = [
  { href: '/', word: 'Overview', icon: 'overview', key: 'o' },
  { href: '/import', word: 'Import', icon: 'import', key: 'i' },
  { href: '/runs', word: 'Runs', icon: 'runs', key: 'r' },
  { href: '/nights', word: 'Nights', icon: 'nights', key: 'n' },
  { href: '/jobs', word: 'Jobs', icon: 'jobs', key: 'j' },
  { href: '/export', word: 'Export', icon: 'export', key: 'e' },
  { href: '/queue', word: 'Queue', icon: 'queue', key: 'q' },
];

/** The rail, whose service this is, the search, and the page. */
export function Shell({ session, children }: { session: Session; children: ReactNode }) {
  const [path, go] = useLocation();
  const search = useRef<HTMLInputElement>(null);
  const shortcuts: readonly Shortcut[] = [
    { keys: '/', what: 'Search', run: () => search.current?.focus() },
    ...PLACES.map(({ href, word, key }) => ({ keys: `g ${key}`, what: word, run: () => go(href) })),
  ];
  useShortcuts(shortcuts);
  return (
    <div className={`shell${session.production ? '' : ' test'}`}>
      <a className="skip" href="#page">
        To the page
      </a>
      <header className="top">
        <Whose session={session} />
        <Search input={search} />
        <Person session={session} />
      </header>
      <nav className="rail" aria-label="Pages">
        {PLACES.map(({ href, word, icon }) => (
          <Link key={href} href={href} aria-current={isAt(path, href) ? 'page' : undefined}>
            <Icon name={icon} />
            <span>{word}</span>
          </Link>
        ))}
      </nav>
      <main id="page" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function isAt(path: string, href: string): boolean {
  return href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`);
}

/** Nobody writes into the wrong company, or takes a test for the real one, without having seen it. */
function Whose({ session: { company_name, company, service, production } }: { session: Session }) {
  const host = hostOf(service);
  return (
    <div className="whose" title={service}>
      <strong className="cut">{company_name ?? `Company ${company}`}</strong>
      <span className="soft cut host">{host}</span>
      <span className={production ? 'soft plain' : 'mark'}>{production ? 'production' : 'test'}</span>
    </div>
  );
}

function hostOf(address: string): string {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
}

function Search({ input }: { input: React.RefObject<HTMLInputElement | null> }) {
  const [path, go] = useLocation();
  const [params] = useSearchParams();
  const shown = path === '/runs' ? (params.get('q') ?? '') : '';
  useEffect(() => {
    if (input.current) input.current.value = shown;
  }, [shown, input]);
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const q = input.current?.value.trim() ?? '';
          go(q === '' ? '/runs' : `/runs?q=${encodeURIComponent(q)}`);
        }}
      >
        <Icon name="search" />
        <input
          ref={input}
          type="search"
          className="input"
          aria-label="Search a file, a job, a run"
          aria-keyshortcuts="/"
          placeholder="Search a file, a job, a run"
          defaultValue={shown}
          onKeyDown={(event) => {
            if (event.key === 'Escape') input.current?.blur();
          }}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}

function Person({ session: { name, role, via } }: { session: Session }) {
  const queries = useQueryClient();
  const signOut = useMutation({
    mutationFn: () => send('DELETE', '/session'),
    onSettled: () => {
      queries.clear();
      void queries.resetQueries({ queryKey: sessionQuery.queryKey });
      location.assign('/');
    },
  });
  return (
    <div className="person">
      <span className="soft cut" title={`Signed in as ${name}, ${role}`}>
        {name} · {role}
      </span>
      {(via === 'user' || via === 'link') && (
        <Button look="quiet" busy={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </Button>
      )}
    </div>
  );
}

/** The page's first line, which answers its question, is its heading; the tab has its name. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · rowferry`;
  }, [title]);
}

/** The search of the address, and what changes parts of it; what is blank goes. */
export function useAddress(): [URLSearchParams, (changes: Query, replace?: boolean) => void] {
  const [params, setParams] = useSearchParams();
  const set = (changes: Query, replace = false) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) {
          if (value === undefined || value === null || value === '') next.delete(name);
          else next.set(name, String(value));
        }
        return next;
      },
      { replace },
    );
  return [params, set];
}
