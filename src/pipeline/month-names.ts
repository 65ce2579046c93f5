/**
 * Names of months and weekdays as spreadsheets of other countries write them, in English, German, French, Spanish,
 * Italian, Dutch and Portuguese. No name means different months in two of them.
 */

const MONTHS: readonly (readonly string[])[] = [
  ['january', 'januar', 'janner', 'janvier', 'enero', 'gennaio', 'januari', 'janeiro', 'jan', 'janv', 'ene', 'gen'],
  [
    'february',
    'februar',
    'feber',
    'fevrier',
    'febrero',
    'febbraio',
    'februari',
    'fevereiro',
    'feb',
    'fevr',
    'fev',
    'febr',
  ],
  ['march', 'marz', 'maerz', 'mars', 'marzo', 'maart', 'marco', 'mar', 'mrz', 'mrt'],
  ['april', 'avril', 'abril', 'aprile', 'apr', 'avr', 'abr'],
  ['may', 'mai', 'mayo', 'maggio', 'mei', 'maio', 'mag'],
  ['june', 'juni', 'juin', 'junio', 'giugno', 'junho', 'jun', 'giu'],
  ['july', 'juli', 'juillet', 'julio', 'luglio', 'julho', 'jul', 'juil', 'lug'],
  ['august', 'aout', 'agosto', 'augustus', 'aug', 'ago'],
  ['september', 'septembre', 'septiembre', 'setiembre', 'settembre', 'setembro', 'sep', 'sept', 'sett', 'set'],
  ['october', 'oktober', 'octobre', 'octubre', 'ottobre', 'outubro', 'oct', 'okt', 'ott', 'out'],
  ['november', 'novembre', 'noviembre', 'novembro', 'nov'],
  ['december', 'dezember', 'decembre', 'diciembre', 'dicembre', 'dezembro', 'dec', 'dez', 'dic'],
];

const BY_NAME = new Map(MONTHS.flatMap((names, at) => names.map((name) => [name, at + 1] as const)));

const WEEKDAYS = new Set(
  [
    'monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun',
    'montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so',
    // Without `mar`, which is a month, too.
    'lundi mardi mercredi jeudi vendredi samedi dimanche lun mer jeu ven sam dim',
    'lunes martes miercoles jueves viernes sabado domingo mie jue vie sab dom',
    'lunedi martedi mercoledi giovedi venerdi gio',
    'maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ma wo vr za zo',
    'segunda-feira terca-feira quarta-feira quinta-feira sexta-feira segunda terca quarta quinta sexta seg ter qua qui sex',
  ].flatMap((names) => names.split(' ')),
);

/** 1–12 for the name of a month or its abbreviation, with or without a point and accents; undefined otherwise. */
export function monthByName(name: string): number | undefined {
  return BY_NAME.get(plain(name));
}

/** The text without a weekday in front: `Thursday, December 1, 2016` → `December 1, 2016`. */
export function withoutWeekday(text: string): string {
  const found = /^(\p{L}[\p{L}-]{1,13})\.?,?\s+(?=\S)/u.exec(text);
  return found && WEEKDAYS.has(plain(found[1]!)) ? text.slice(found[0].length) : text;
}

function plain(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').replace(/\.$/, '').toLowerCase();
}
