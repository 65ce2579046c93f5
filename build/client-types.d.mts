export function clientTypes(description: unknown): string;
