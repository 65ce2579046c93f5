/** Bundles the sources below `src` into the folder `out`, with `rowferry.js` as the command and `index.js` as the library. */
export function bundle(src: string, out: string): Promise<void>;
