import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';

export interface Mailbox {
  /** `smtp://…`, with a user name and a password that it takes. */
  readonly url: string;
  readonly mails: { readonly from: string; readonly to: readonly string[]; readonly text: string }[];
  /** Sessions, whether a mail was taken in them or not. */
  sessions(): number;
  close(): Promise<void>;
}

/** A mail server that keeps what it is sent. `refuse` names the answer to a recipient who is not taken. */
export async function openMailbox(refuse: (address: string) => number | undefined = () => undefined): Promise<Mailbox> {
  const mails: { from: string; to: string[]; text: string }[] = [];
  let sessions = 0;
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onConnect(_session, done) {
      sessions++;
      done();
    },
    onAuth({ username, password }, _session, done) {
      if (username === 'bot' && password === 'pass word') done(null, { user: 'bot' });
      else done(new Error('wrong password'));
    },
    onRcptTo({ address }, _session, done) {
      const code = refuse(address);
      done(code === undefined ? null : Object.assign(new Error('not taken'), { responseCode: code }));
    },
    async onData(stream, { envelope }, done) {
      let text = '';
      for await (const chunk of stream) text += (chunk as Buffer).toString('utf8');
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
      mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text });
      done();
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const address = listening.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `smtp://bot:pass%20word@127.0.0.1:${address.port}`,
    mails,
    sessions: () => sessions,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
