/** Whether a host, as it stands in an address, is this machine itself. Addresses of private networks are not. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}
