/** Path of the compiled simulation, of the sources or of a compiled program given. */
export function simulationPath(dist?: string): Promise<string>;
