import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { type ComponentType, lazy, Suspense } from 'react';
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
const PAGES: Readonly<Record<string, ComponentType<{ id: string | undefined }>>> = {
  '/': lazy(() => import('../overview/page.js')),
  '/import/:id?': lazy(() => import('../import/page.js')),
  '/runs': lazy(() => import('../runs/list.js')),
  '/runs/:id': lazy(() => import('../runs/run.js')),
  '/nights/:id?': lazy(() => import('../nights/page.js')),
  '/jobs/:id?': lazy(() => import('../jobs/page.js')),
  '/export': lazy(() => import('../export/page.js')),
  '/queue': lazy(() => import('../queue/page.js')),
};

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
          {Object.entries(PAGES).map(([path, Page]) => (
            <Route<{ id?: string }> key={path} path={path}>
              {({ id }) => (
                // A page of another thing is another page: nothing of the one before stays in it.
                <ErrorBoundary key={`${location.pathname} ${id}`}>
                  <Suspense fallback={<Skeleton what="the page" />}>
                    <Page id={id} />
                  </Suspense>
                </ErrorBoundary>
              )}
            </Route>
          ))}
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

// A file that is dropped beside the place for it would take the page's place.
for (const type of ['dragover', 'drop'] as const)
  window.addEventListener(type, (event) => {
    const isFile = event.dataTransfer?.types.includes('Files');
    if (isFile && (event.target as HTMLInputElement).type !== 'file') event.preventDefault();
  });

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={client}>
    <Console />
  </QueryClientProvider>,
);
