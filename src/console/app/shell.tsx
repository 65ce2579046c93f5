import { type ReactNode, useEffect } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Session } from '../../api/schema.js';
import { capitalize } from '../../report/wording.js';
import { Icon } from '../kit/icons.js';
import { Badge, Button, SearchForm } from '../kit/parts.js';
import { type Query, send, withParams } from './client.js';
import { useOnce } from './queries.js';

/** Each has a sign of its name, and is where its name says. */
const PAGES = ['overview', 'import', 'runs', 'nights', 'jobs', 'export', 'queue'] as const;
const hrefOf = (page: (typeof PAGES)[number]) => (page === 'overview' ? '/' : `/${page}`);

export function Shell({ session, children }: { session: Session; children: ReactNode }) {
  const [path] = useLocation();
  return (
    <div className={`shell${session.production ? '' : ' test'}`}>
      <a className="skip" href="#page">
        To the page
      </a>
      <header className="top">
        <CompanyName session={session} />
        <Search />
        <UserInfo session={session} />
      </header>
      <nav className="rail" aria-label="Pages">
        {PAGES.map((page) => (
          <Link
            key={page}
            href={hrefOf(page)}
            aria-current={`${path}/`.startsWith(`${hrefOf(page)}/`) ? 'page' : undefined}
          >
            <Icon name={page} />
            <span>{capitalize(page)}</span>
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

function Search() {
  const [path, go] = useLocation();
  const [params] = useSearchParams();
  return (
    <search>
      <Icon name="search" />
      <SearchForm
        aria-label="Search a file, a job, a run"
        aria-keyshortcuts="/"
        placeholder="Search a file, a job, a run"
        value={path === '/runs' ? (params.get('q') ?? '') : ''}
        onSearch={(q) => go(q === '' ? '/runs' : `/runs?q=${encodeURIComponent(q)}`)}
      />
      <kbd>/</kbd>
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
