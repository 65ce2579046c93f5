import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Session } from '../../api/schema.js';
import { Icon, type IconName } from '../kit/icons.js';
import { Badge, Button, submitting } from '../kit/parts.js';
import { type Query, send, withParams } from './client.js';
import { useShortcut } from './keys.js';
import { useOnce } from './queries.js';

const PAGES: readonly { readonly href: string; readonly word: string; readonly icon: IconName }[] = [
  { href: '/', word: 'Overview', icon: 'overview' },
  { href: '/import', word: 'Import', icon: 'import' },
  { href: '/runs', word: 'Runs', icon: 'runs' },
  { href: '/nights', word: 'Nights', icon: 'nights' },
  { href: '/jobs', word: 'Jobs', icon: 'jobs' },
  { href: '/export', word: 'Export', icon: 'export' },
  { href: '/queue', word: 'Queue', icon: 'queue' },
];

export function Shell({ session, children }: { session: Session; children: ReactNode }) {
  const [path] = useLocation();
  const search = useRef<HTMLInputElement>(null);
  useShortcut('/', 'Search', () => search.current?.focus());
  return (
    <div className={`shell${session.production ? '' : ' test'}`}>
      <a className="skip" href="#page">
        To the page
      </a>
      <header className="top">
        <CompanyName session={session} />
        <Search input={search} />
        <UserInfo session={session} />
      </header>
      <nav className="rail" aria-label="Pages">
        {PAGES.map(({ href, word, icon }) => (
          <Link
            key={href}
            href={href}
            aria-current={path === href || (href !== '/' && path.startsWith(`${href}/`)) ? 'page' : undefined}
          >
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

/** Nobody writes into the wrong company, or takes a test for the real one, without having seen it. */
function CompanyName({ session: { company_name, company, service, production } }: { session: Session }) {
  return (
    <div className="line" title={service}>
      <strong className="cut">{company_name ?? `Company ${company}`}</strong>
      <span className="soft cut">{URL.canParse(service) ? new URL(service).host : service}</span>
      {production ? <span className="soft">production</span> : <Badge tone="warn" word="test" />}
    </div>
  );
}

function Search({ input }: { input: RefObject<HTMLInputElement | null> }) {
  const [path, go] = useLocation();
  const [params] = useSearchParams();
  const search = () => {
    const q = input.current?.value.trim() ?? '';
    go(q === '' ? '/runs' : `/runs?q=${encodeURIComponent(q)}`);
  };
  const searched = path === '/runs' ? (params.get('q') ?? '') : '';
  useEffect(() => {
    if (input.current) input.current.value = searched;
  }, [searched, input]);
  return (
    <search>
      <form {...submitting(search)}>
        <Icon name="search" />
        <input
          ref={input}
          type="search"
          className="input"
          aria-label="Search a file, a job, a run"
          aria-keyshortcuts="/"
          placeholder="Search a file, a job, a run"
          defaultValue={searched}
          onKeyDown={({ key }) => key === 'Escape' && input.current?.blur()}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}

function UserInfo({ session: { name, role, via } }: { session: Session }) {
  const signOut = useOnce({
    mutationFn: () => send('DELETE', '/session'),
    // Loaded anew, so that nothing of theirs is left.
    onSettled() {
      sessionStorage.clear();
      location.assign('/');
    },
  });
  return (
    <div className="line">
      <span className="soft cut" title={`Signed in as ${name}, ${role}`}>
        {name} · {role}
      </span>
      {(via === 'user' || via === 'link') && <Button look="quiet" change={signOut} word="Sign out" />}
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
export function useUrlParams(): [URLSearchParams, (changes: Query, replace?: boolean) => void] {
  const [params, setParams] = useSearchParams();
  const set = (changes: Query, replace = false) => setParams((before) => withParams(before, changes), { replace });
  return [params, set];
}
