import { createHash } from 'node:crypto'
import { BackupError } from './backup-error.ts'
import { newSealing, type Secrets } from './file-secrets.ts'
import { differences, Inventory, type InventoryData } from './inventory.ts'
import { itemsOf, type ProjectSource, projectRow } from './project-items.ts'
import { format, type Item, type Line } from './schema.ts'
import { SealedFields } from './sealed-fields.ts'

/** Dependencies of an export. */
export interface ExportDeps extends ProjectSource {
  readonly secrets: Secrets
  /** ms since the epoch. */
  readonly now: () => number
}

/** Result of an export. */
export interface ExportReport {
  readonly inventory: InventoryData
  /** Descriptions of secrets that the file does not contain. */
  readonly missing: readonly string[]
}

/**
 * Writes a project as JSON lines: a header, a line for each item, and an end line with their counts and hash.
 * The project is read twice and must not change in between: only then does the file show the state of one moment. One
 * page of the store and one line are in memory at a time.
 *
 * @param write receives the text of one or more whole lines; the next one is produced when it resolves.
 * @throws {BackupError} for an unknown project, and for one that changes meanwhile; then the written text is invalid.
 */
export const exportProject = async (
  deps: ExportDeps,
  write: (text: string) => Promise<void>,
): Promise<ExportReport> => {
  if ((await projectRow(deps)) === null) throw new BackupError(`There is no project ${deps.project} in this store.`)
  const hash = createHash('sha256')
  const put = async (line: Line): Promise<void> => {
    const text = `${JSON.stringify(line)}\n`
    hash.update(text)
    await write(text)
  }
  const { sealing, box } = newSealing(deps.secrets)
  const { project, secrets } = deps
  const exported_at = new Date(deps.now()).toISOString()
  await put({ type: 'header', format, project, exported_at, pepper: secrets.pepper, sealing })
  const sealed = new SealedFields(deps.kinds)
  const inventory = new Inventory(sealed)
  const missing: string[] = []
  const reseal = (item: RecordItem): Item | null => {
    if (box === secrets.box) return item
    const { record, losses } = sealed.resealed(item.kind, item.record, { from: secrets.box, to: box })
    missing.push(...losses)
    return record === null ? null : { ...item, record }
  }
  const leftOut = new Set<string>()
  for await (const item of itemsOf(deps)) {
    const kept = item.type === 'record' ? reseal(item) : item
    if (kept === null) leftOut.add(nameOf(item))
    else {
      inventory.add(item)
      await put(kept)
    }
  }
  const taken = inventory.taken()
  await assertUnchanged(deps, taken, leftOut)
  await put({ type: 'end', inventory: taken, sha256: hash.copy().digest('hex') })
  return { inventory: taken, missing: [...new Set(missing)] }
}

type RecordItem = Item & { readonly type: 'record' }

/** Names a record among the items of a project. */
const nameOf = (item: Item): string => (item.type === 'record' ? `${item.kind}/${item.record.id}` : '')

/** Computes the inventory of a project in a store. @param leftOut records that do not count, by `nameOf`. */
export const inventoryOf = async (
  source: ProjectSource,
  leftOut: ReadonlySet<string> = new Set(),
): Promise<InventoryData> => {
  const inventory = new Inventory(new SealedFields(source.kinds))
  for await (const item of itemsOf(source)) if (!leftOut.has(nameOf(item))) inventory.add(item)
  return inventory.taken()
}

const assertUnchanged = async (deps: ExportDeps, first: InventoryData, leftOut: ReadonlySet<string>): Promise<void> => {
  const changed = differences(first, await inventoryOf(deps, leftOut))
  if (changed.length === 0) return
  throw new BackupError(
    `The project changed while it was read: ${changed.join(', ')}. Stop the server, or its traffic, and try again.`,
  )
}
