import { inHome, isHome } from '../store/home.js';
import type { ProbedBehaviour } from './port.js';

/** What a probe found out about a service and company, by its `serviceName`; undefined where there was none. */
export function loadBehaviour(home: string, service: string): ProbedBehaviour | undefined {
  if (!isHome(home)) return undefined;
  return inHome(home, (database) => {
    const found = database.prepare('select value from behaviour where service = ?').get(service);
    return found && (JSON.parse(String(found['value'])) as ProbedBehaviour);
  });
}

/** In the place of what an earlier probe found out. */
export function saveBehaviour(home: string, service: string, behaviour: ProbedBehaviour): void {
  inHome(home, (database) =>
    database.transaction(() =>
      database
        .prepare('insert or replace into behaviour (service, value) values (?, ?)')
        .run(service, JSON.stringify(behaviour)),
    ),
  );
}
