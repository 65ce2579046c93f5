import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { Redirect, Route, Switch } from 'wouter';
import '../kit/kit.css';
import './app.css';
import { Skeleton } from '../kit/parts.js';
import { TOASTS_ID } from '../kit/toast.js';
import { ApiError } from './client.js';
import { ErrorBoundary, PagePending } from './faults.js';
import { ShortcutKeys } from './keys.js';
import { client, sessionQuery } from './queries.js';
import { Shell } from './shell.js';
import { SignIn } from './sign-in.js';

/** Each page is loaded when somebody goes there first. */
const Overview = lazy(() => import('../overview/page.js'));
const Import = lazy(() => import('../import/page.js'));
const Runs = lazy(() => import('../runs/list.js'));
const Run = lazy(() => import('../runs/run.js'));
const Nights = lazy(() => import('../nights/page.js'));
const Jobs = lazy(() => import('../jobs/page.js'));
const Export = lazy(() => import('../export/page.js'));
const Queue = lazy(() => import('../queue/page.js'));

function Console() {
  const { data: session, error } = useQuery(sessionQuery);
  if (error instanceof ApiError && error.status === 401) return <SignIn />;
  if (!session) {
    return (
      <main className="sign-in">
        <PagePending error={error} page="rowferry" />
      </main>
    );
  }
  return (
    <>
      <ShortcutKeys />
      <Shell session={session}>
        <Switch>
          <Route path="/">{() => page(<Overview />)}</Route>
          <Route path="/import/:id?">{({ id }) => page(<Import upload={id} />, id)}</Route>
          <Route path="/runs">{() => page(<Runs />)}</Route>
          <Route path="/runs/:id">{({ id }) => page(<Run id={id} />, id)}</Route>
          <Route path="/nights/:job?">{({ job }) => page(<Nights job={job} />, job)}</Route>
          <Route path="/jobs/:name?">{({ name }) => page(<Jobs name={name} />, name)}</Route>
          <Route path="/export">{() => page(<Export />)}</Route>
          <Route path="/queue">{() => page(<Queue />)}</Route>
          <Route path="/sign-in">
            <Redirect to="/" replace />
          </Route>
          <Route>
            <h1>There is no such page</h1>
            <p>The address may be cut off, or of another version.</p>
          </Route>
        </Switch>
      </Shell>
      <div id={TOASTS_ID} className="toasts stack tight" role="status" />
    </>
  );
}

/** A page of another thing is another page: nothing of the one before stays in it. */
function page(content: React.ReactNode, key = '') {
  return (
    <ErrorBoundary key={`${location.pathname} ${key}`}>
      <Suspense fallback={<Skeleton what="the page" lines={6} />}>{content}</Suspense>
    </ErrorBoundary>
  );
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Console />
    </QueryClientProvider>
  </StrictMode>,
);
