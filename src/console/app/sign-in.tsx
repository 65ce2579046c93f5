import { useSearchParams } from 'wouter';
import type { Session } from '../../api/schema.js';
import { Button, Card, Notice, submitting, TextField } from '../kit/parts.js';
import { send } from './client.js';
import { client, sessionQuery, useOnce } from './queries.js';

/** In place of every page while nobody is signed in; the address stays, so that the page is there afterwards. */
export function SignIn() {
  const [params] = useSearchParams();
  const signIn = useOnce({
    mutationFn: (entries: FormData) =>
      send<Session>('POST', '/session', { name: entries.get('username'), password: entries.get('password') }),
    onSuccess: (session) => client.setQueryData(sessionQuery.queryKey, session),
  });
  return (
    <main className="sign-in">
      <Card>
        <form className="stack" {...submitting((form) => signIn.mutate(new FormData(form)))}>
          <h1>Sign in to rowferry</h1>
          {params.has('expired') && (
            <Notice tone="warn" title="This link was used before, or is too old">
              <p>
                Take the link that <code>rowferry console</code> prints when it starts; it works once, for 10 minutes.
              </p>
            </Notice>
          )}
          {signIn.error && <Notice tone="bad" title={signIn.error.message} />}
          <TextField label="Name" name="username" autoComplete="username" required autoFocus />
          <TextField label="Password" type="password" name="password" autoComplete="current-password" required />
          <Button type="submit" look="primary" busy={signIn.isPending} word="Sign in" />
          <p className="soft small">
            On your own machine no name is needed: <code>rowferry console</code> prints a link that signs you in.
          </p>
        </form>
      </Card>
    </main>
  );
}
