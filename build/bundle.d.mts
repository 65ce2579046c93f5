/** Bundles the sources below `src` into the folder `out`, with `rowferry.js` as the command. */
export function bundle(src: string, out: string): Promise<void>;
