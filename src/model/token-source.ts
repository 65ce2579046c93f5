/** Where the bearer token comes from. Contract, section 2; interface, section 5. */
export type TokenSource =
  | { readonly kind: 'token'; readonly token: string }
  /** The file is read again when the service refuses the token. */
  | { readonly kind: 'file'; readonly path: string }
  /** OAuth 2.0 client credentials (RFC 6749, section 4.4). */
  | {
      readonly kind: 'oauth';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope?: string;
    };
