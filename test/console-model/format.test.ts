import { expect, it } from 'vitest';
import { bytes } from '../../src/console/kit/format.js';

it('sizes are told as settings state them', () => {
  expect([900, 2_048, 200 * 1024 * 1024].map(bytes)).toEqual(['< 1 kB', '2 kB', '200 MB']);
});
