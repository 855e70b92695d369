import { keysOf, type LastingPurpose, lastingPurposes, type ServerKeys } from '#records/sealing/server-keys.ts'
import { openSecretBox, projectScope, type RecordStore } from '#storage/index.ts'
import { deriveKey, keyName } from '../records/derive-key.ts'
import type { TypedKind } from '../records/schema.ts'
import type { SecretBox } from '../records/secret-box.ts'
import { Table } from '../records/table.ts'
import { apiPepperName } from './api-keys.ts'
import { installations, pepperOf, WrongMasterKey } from './bootstrap.ts'

/** `sealed` is encrypted JSON of keys in base64, by purpose. */
export type LastingKeysData = { readonly sealed: string }

const place = { id: 'lasting_keys', project: 'installation' } as const
const aad = `${place.project}|${place.id}`

/**
 * Keys derived from the first master key that lookups in the store depend on, in one row that is written when another
 * master key replaces it. A change of the master key reseals this row last: while it is sealed under an earlier key,
 * that key is still required.
 */
export const lastingKeys: TypedKind<LastingKeysData> = {
  name: 'lasting_keys',
  exported: null,
  sealed: [
    { field: 'sealed', aad: () => aad, instead: null, sentTo: null, loss: 'keys by which the store is searched' },
  ],
}

/** The master keys of a process, and the store of lasting keys. */
export interface ServerKeysParts {
  readonly records: RecordStore
  /** Master keys of 32 bytes each. */
  readonly masterKey: Buffer
  readonly previous: readonly Buffer[]
  /** Opens secrets that any of the master keys sealed. */
  readonly box: SecretBox
}

/**
 * Returns the keys of this installation. Call it before anything else uses the store.
 *
 * @throws {WrongMasterKey} when the store was created under none of these master keys, or still requires an earlier
 * one.
 */
export const openServerKeys = async (parts: ServerKeysParts): Promise<ServerKeys> => {
  await parts.records.prepare([installations, lastingKeys])
  const { keys, first } = await findServerKeys(parts)
  if (first === null) return keys
  await keepLasting(parts.records, first)
  return (await findServerKeys(parts)).keys
}

/** Result of `findServerKeys`. */
export interface FoundKeys {
  readonly keys: ServerKeys
  /** The master key that the store was created under, if another one replaces it for the first time; else null. */
  readonly first: Buffer | null
}

/** As `openServerKeys`, but writes nothing. @throws {WrongMasterKey} */
export const findServerKeys = async (parts: ServerKeysParts): Promise<FoundKeys> => {
  const { records, masterKey, previous } = parts
  const made = await pepperOf(records)
  const known = await lastingOf(parts)
  const pepper = known?.['api-keys']
  if (pepper !== undefined && keyName(pepper) !== made) throw new WrongMasterKey()
  if (known !== null || made === null || made === apiPepperName(masterKey))
    return { keys: keysOf({ masterKey, previous }, known ?? {}), first: null }
  const first = previous.find((key) => apiPepperName(key) === made)
  if (first === undefined) throw new WrongMasterKey()
  return { keys: keysOf({ masterKey, previous }), first }
}

type Lasting = Readonly<Partial<Record<LastingPurpose, Buffer>>>

const tableOf = (records: RecordStore) => new Table(records, lastingKeys, Date.now)

const lastingOf = async ({ records, box }: ServerKeysParts): Promise<Lasting | null> => {
  const row = await tableOf(records).get(projectScope(place.project), place.id)
  if (row === null) return null
  try {
    const keys: Record<string, unknown> = JSON.parse(box.open(row.data.sealed, aad))
    return Object.fromEntries(
      lastingPurposes.flatMap((each) =>
        keys[each] === undefined ? [] : [[each, Buffer.from(String(keys[each]), 'base64')]],
      ),
    )
  } catch (cause) {
    throw new WrongMasterKey({ cause })
  }
}

/**
 * Stores the lasting keys, sealed under the first master key, so that the row shows that this key is still required.
 * Another process may have inserted the row already.
 */
const keepLasting = async (records: RecordStore, first: Buffer): Promise<void> => {
  const keys = lastingPurposes.map((each) => [each, deriveKey(first, each).toString('base64')])
  const sealed = openSecretBox({ masterKey: first }).seal(JSON.stringify(Object.fromEntries(keys)), aad)
  await tableOf(records).insert({ ...place, data: { sealed } })
}
