import { asObject, type JsonObject, parseJson, toJson } from '../json.js';
import type { WritableName } from '../kinds.js';
import type { World } from '../world.js';
import { insertRecord } from '../write.js';
import { ARCHIVED_ASSETS, ASSETS } from './assets.js';
import * as lookups from './lookups.js';
import { ARCHIVED_SUPPLIER, archivedContract, CONTRACTS, CUSTOMERS, SUPPLIERS } from './parties.js';

/** An hour between one seeded record and the next, from this moment on: creation order is also age. */
const FIRST = Date.UTC(2024, 0, 8, 9);
const HOUR = 3_600_000;

/** The two companies with their look-ups and no records. Entries belong to company 1. */
export function seedCompanies(world: World): void {
  const { lookups: store } = world;
  for (const item of lookups.COMPANIES) store.put('company', null, item);
  for (const item of lookups.USERS) store.put('user', null, item);
  for (const item of lookups.CATEGORIES) store.put('category', 1, item);
  for (const item of lookups.OWNERS) store.put('asset-owner', 1, item);
  for (const item of lookups.USAGE_STATUSES) store.put('usage-status', 1, item);
  for (const item of lookups.BUSINESS_UNITS) store.put('business-unit', 1, item);
  for (const item of lookups.HARDWARE_MODELS) store.put('hardware-model', 1, item);
  for (const item of lookups.FIELD_TEMPLATES) store.put('custom-field-template', 1, item);
  for (const item of lookups.FORM_TEMPLATES) store.put('custom-form-template', 1, item);
}

/** The same, with the demo's records: always the same ones with the same ids. */
export function seedDemo(world: World): void {
  seedCompanies(world);
  let hours = 0;
  const insert = (resource: WritableName, body: object | string): number => {
    const value = typeof body === 'string' ? parseJson(body) : toJson(body);
    return insertRecord(world, resource, asObject(value) as JsonObject, FIRST + hours++ * HOUR).id;
  };
  for (const body of SUPPLIERS) insert('supplier', body);
  for (const body of CUSTOMERS) insert('customer', body);
  for (const body of CONTRACTS) insert('contract', body);
  for (const body of ASSETS) insert('asset', body);
  for (const item of lookups.LICENSES) world.lookups.put('license', 1, item);
  insert('contract', archivedContract(insert('supplier', ARCHIVED_SUPPLIER)));
  for (const body of ARCHIVED_ASSETS) insert('asset', body);
}
