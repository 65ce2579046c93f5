/** `0 2 * * 1-5` → `Monday to Friday at 02:00`; a form that few write stands as it is. */
export function scheduleWords(cron: string): string {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...more] = cron.trim().split(/\s+/);
  const other = `as ${cron} says`;
  if (more.length > 0 || month !== '*') return other;
  const every = /^\*\/(\d+)$/.exec(minute);
  if (hour === '*' && day === '*' && weekday === '*') {
    if (minute === '*') return 'every minute';
    if (every) return `every ${every[1]} minutes`;
    return /^\d+$/.test(minute) ? `every hour, ${minute} minutes past` : other;
  }
  if (!/^\d+$/.test(minute) || !/^\d+(,\d+)*$/.test(hour)) return other;
  const times = listed(hour.split(',').map((one) => `${one.padStart(2, '0')}:${minute.padStart(2, '0')}`));
  if (weekday === '*') {
    if (day === '*') return `every day at ${times}`;
    return /^\d+(,\d+)*$/.test(day) ? `on day ${listed(day.split(','))} of each month at ${times}` : other;
  }
  const days = day === '*' ? weekdays(weekday) : undefined;
  return days === undefined ? other : `${days} at ${times}`;
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

/** `1-5`, `1,3`, `MON-FRI` */
function weekdays(text: string): string | undefined {
  const parts = text.split(',').map((part) => part.split('-').map(dayOf));
  if (parts.some((ends) => ends.length > 2 || ends.includes(undefined))) return undefined;
  return listed(parts.map((ends) => ends.join(' to ')));
}

function dayOf(text: string): string | undefined {
  if (/^[0-7]$/.test(text)) return DAYS[Number(text)];
  return /^[a-z]{3}$/i.test(text) ? DAYS.find((name) => name.toLowerCase().startsWith(text.toLowerCase())) : undefined;
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
