import { statfs } from 'node:fs/promises';

/** File systems (`statfs`) on which changes made elsewhere are not announced here. */
const REMOTE: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'kAFS'],
  [0x73757245, 'Coda'],
  [0x564c, 'NCP'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x19830326, 'BeeGFS'],
  [0x786f4256, 'VirtualBox share'],
  [0xbacbacbc, 'VMware share'],
  [0x7c7c6673, 'Parallels share'],
]);

/** The kind of network share a folder lies on; undefined for a local disk, and where it cannot be told. */
export async function shareKind(folder: string): Promise<string | undefined> {
  if (process.platform === 'win32') return folder.startsWith('\\\\') ? 'network share' : undefined;
  if (process.platform === 'darwin') return folder.startsWith('/Volumes/') ? 'mounted volume' : undefined;
  const info = await statfs(folder).catch(() => undefined);
  // Some machines report the 32 bits as a negative number.
  return info && REMOTE.get(info.type >>> 0);
}
