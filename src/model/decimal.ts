/** Most amounts. */
const CANONICAL = /^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/;

/**
 * A decimal number kept as text, so that an amount never passes through a binary float.
 * The text is canonical: no leading zeros, no trailing zeros after the point, no exponent, `-0` is `0`.
 */
export class Decimal {
  /** Recognised by lossless-json's writer: the text goes to the wire as a bare JSON number. */
  readonly isLosslessNumber = true;

  private constructor(readonly text: string) {}

  /** Reads `12`, `-12.50`, `1.2e3`; anything else is undefined. */
  static parse(source: string): Decimal | undefined {
    if (CANONICAL.test(source)) return new Decimal(source);
    const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/.exec(source);
    if (!match || (!match[2] && !match[3])) return undefined;
    let whole = match[2] ?? '';
    let fraction = match[3] ?? '';
    const exponent = Number(match[4] ?? 0);
    if (Math.abs(exponent) > 400) return undefined;
    if (exponent > 0) {
      const moved = fraction.padEnd(exponent, '0');
      whole += moved.slice(0, exponent);
      fraction = moved.slice(exponent);
    } else if (exponent < 0) {
      const padded = whole.padStart(-exponent + 1, '0');
      fraction = padded.slice(padded.length + exponent) + fraction;
      whole = padded.slice(0, padded.length + exponent);
    }
    whole = whole.replace(/^0+(?=\d)/, '') || '0';
    // Looked for from their first one only: a run of them further left is passed over at once.
    fraction = fraction.replace(/(?<!0)0+$/, '');
    const digits = fraction ? `${whole}.${fraction}` : whole;
    return new Decimal(match[1] === '-' && digits !== '0' ? `-${digits}` : digits);
  }

  static of(source: string | number): Decimal {
    const parsed = Decimal.parse(String(source));
    if (!parsed) throw new RangeError(`not a decimal: ${source}`);
    return parsed;
  }

  get negative(): boolean {
    return this.text.startsWith('-');
  }

  /** Digits after the decimal point. */
  get scale(): number {
    const point = this.text.indexOf('.');
    return point < 0 ? 0 : this.text.length - point - 1;
  }

  equals(other: Decimal): boolean {
    return this.text === other.text;
  }

  /** -1, 0 or 1. */
  compare(other: Decimal): number {
    if (this.negative !== other.negative) return this.negative ? -1 : 1;
    // Canonical texts: of two whole numbers of different lengths the longer one is further from zero.
    const further = wholeDigits(this) - wholeDigits(other);
    if (further !== 0) return further > 0 !== this.negative ? 1 : -1;
    const scale = Math.max(this.scale, other.scale);
    const a = this.scaled(scale);
    const b = other.scaled(scale);
    return a < b ? -1 : a > b ? 1 : 0;
  }

  plus(other: Decimal): Decimal {
    const scale = Math.max(this.scale, other.scale);
    const sum = this.scaled(scale) + other.scaled(scale);
    const digits = (sum < 0n ? -sum : sum).toString().padStart(scale + 1, '0');
    const cut = digits.length - scale;
    return Decimal.of(`${sum < 0n ? '-' : ''}${digits.slice(0, cut)}${scale ? `.${digits.slice(cut)}` : ''}`);
  }

  private scaled(scale: number): bigint {
    return BigInt(this.text.replace('.', '') + '0'.repeat(scale - this.scale));
  }

  toString(): string {
    return this.text;
  }

  /** In journals and reports a decimal is text; on the wire `json.ts` writes it as a number. */
  toJSON(): string {
    return this.text;
  }
}

function wholeDigits({ text }: Decimal): number {
  const point = text.indexOf('.');
  return point < 0 ? text.length : point;
}
