/** Every variable rowferry reads, as data: the README and `doctor` show it. */
export interface SettingRow {
  readonly name: string;
  readonly meaning: string;
  /** What holds where it is not set; '' for nothing. */
  readonly fallback: string;
  /** The flag that wins over it. Secrets have none: other users of a machine see command lines. */
  readonly flag?: string;
  /** Its value is never shown. */
  readonly secret?: true;
}

export const SETTINGS = [
  {
    name: 'ROWFERRY_API_URL',
    meaning: 'Address of the service, without `/api/v2`',
    fallback: '',
    flag: '--api-url',
  },
  { name: 'ROWFERRY_API_TOKEN', meaning: 'Bearer token', fallback: '', secret: true },
  {
    name: 'ROWFERRY_API_TOKEN_FILE',
    meaning: 'File that holds the bearer token; read again when the service answers 401',
    fallback: '',
  },
  {
    name: 'ROWFERRY_OAUTH_TOKEN_URL',
    meaning: 'OAuth 2.0 client credentials: where tokens are issued',
    fallback: '',
  },
  { name: 'ROWFERRY_OAUTH_CLIENT_ID', meaning: 'OAuth 2.0: client id', fallback: '' },
  { name: 'ROWFERRY_OAUTH_CLIENT_SECRET', meaning: 'OAuth 2.0: client secret', fallback: '', secret: true },
  { name: 'ROWFERRY_OAUTH_SCOPE', meaning: 'OAuth 2.0: scope, where the service asks for one', fallback: '' },
  {
    name: 'ROWFERRY_COMPANY',
    meaning: 'Company id; a job and `--company` win over it',
    fallback: '1',
    flag: '--company',
  },
  {
    name: 'ROWFERRY_HOME',
    meaning: 'Data folder: runs, what is known of the service, embedded queue, inbox',
    fallback: '.rowferry',
    flag: '--home',
  },
  { name: 'ROWFERRY_JOBS_DIR', meaning: 'Folder of the job files', fallback: 'jobs', flag: '--jobs-dir' },
  {
    name: 'ROWFERRY_QUEUE_URL',
    meaning:
      'Queue of the worker: `redis://`, `rediss://`, `redis+sentinel://host,host/name`, `redis+cluster://host,host`, `postgres://`',
    fallback: 'embedded, in the data folder',
    secret: true,
  },
  {
    name: 'ROWFERRY_QUEUE_SECRET',
    meaning: 'What the workers on one queue sign with what they tell each other; the same on all',
    fallback: 'the credentials of the service',
    secret: true,
  },
  { name: 'ROWFERRY_QUEUE_SECRET_FILE', meaning: 'File that holds it', fallback: '' },
  {
    name: 'ROWFERRY_INBOX',
    meaning: 'Drop folder of the worker',
    fallback: '`inbox` in the data folder',
    flag: '--inbox',
  },
  {
    name: 'ROWFERRY_ROOTS',
    meaning:
      'Folders that files of queue jobs may lie in, parted like `PATH`; the data folder and the drop folder always count',
    fallback: 'the working folder',
  },
  {
    name: 'ROWFERRY_LEASE',
    meaning: 'Seconds after which a worker that is not heard of counts as gone, and its work goes to others',
    fallback: '15',
  },
  {
    name: 'ROWFERRY_HTTP',
    meaning: 'Where the worker answers `/healthz`, `/readyz` and `/metrics`: `port`, `host:port`, or `off`',
    fallback: '127.0.0.1:8720',
    flag: '--http',
  },
  {
    name: 'ROWFERRY_BOARD_PASSWORD',
    meaning: 'Password of the board (`--board`), user name `rowferry`; without it the board answers this machine only',
    fallback: '',
    secret: true,
  },
  {
    name: 'ROWFERRY_NOTIFY_URL',
    meaning: 'Webhook that is told when a job begins to fail and when it works again',
    fallback: '',
    secret: true,
  },
  {
    name: 'ROWFERRY_NOTIFY_FILE',
    meaning: 'File the same is appended to, one JSON object a line',
    fallback: '',
  },
  {
    name: 'ROWFERRY_CONCURRENCY',
    meaning: 'Most requests in flight per process',
    fallback: '16',
    flag: '--concurrency',
  },
  {
    name: 'ROWFERRY_MAX_RPS',
    meaning: 'Ceiling of requests per second, shared by all workers on one queue',
    fallback: '',
    flag: '--max-rps',
  },
  {
    name: 'ROWFERRY_TIMEOUT',
    meaning: 'Seconds until a request counts as unanswered',
    fallback: '30',
  },
  {
    name: 'ROWFERRY_PATIENCE',
    meaning: 'Minutes that a service which is down is waited for',
    fallback: '15',
  },
  {
    name: 'ROWFERRY_SETTLE_WINDOW',
    meaning: 'Seconds after which a create of unknown effect is looked up, one after another',
    fallback: '1,5,15,45',
  },
  {
    name: 'ROWFERRY_STRICT',
    meaning: '`1`: what is only warned of (no TLS, a queue without a password) is refused',
    fallback: '0',
  },
  {
    name: 'ROWFERRY_LOG_LEVEL',
    meaning: 'fatal, error, warn, info, debug, trace or silent; logs are JSON lines on stderr (pretty on a terminal)',
    fallback: 'info',
    flag: '--log-level',
  },
] as const satisfies readonly SettingRow[];

export type SettingName = (typeof SETTINGS)[number]['name'];
