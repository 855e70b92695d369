import { setTimeout as delay } from 'node:timers/promises'
import { projectScope, type StoredRecord } from '#storage/index.ts'
import { projectKeys, projects } from '../accounts/kinds.ts'
import { unmarkErased } from '../runtime/internal.ts'
import { BackupError } from './backup-error.ts'
import { type CheckedFile, checkFile, isItem, type OpenFile } from './check-file.ts'
import { inventoryOf } from './export-project.ts'
import { boxOf, type Secrets } from './file-secrets.ts'
import { ImportMarks } from './import-mark.ts'
import { differences, type InventoryData } from './inventory.ts'
import { ItemWriter } from './item-writer.ts'
import { type ProjectSource, projectRow } from './project-items.ts'
import { readLines } from './read-lines.ts'
import { type Header, type Item, lineOf } from './schema.ts'
import { SealedFields } from './sealed-fields.ts'

/** Dependencies of an import. */
export interface ImportDeps extends Omit<ProjectSource, 'project'> {
  readonly open: OpenFile
  readonly secrets: Secrets
  /** Returns the organisation that the project joins; called once the file has been verified. */
  readonly organization: (project: string) => Promise<string>
  /** ms since the epoch. */
  readonly now: () => number
  /** Waits between two attempts; replaceable in tests. */
  readonly pause?: (ms: number) => Promise<unknown>
}

/** Result of an import. */
export interface ImportReport {
  readonly project: string
  readonly inventory: InventoryData
  /** Descriptions of items in the file that could not be imported. */
  readonly missing: readonly string[]
  /** Whether this file had been imported completely before, so that nothing was done. */
  readonly before: boolean
}

/**
 * Writes a file's project into a store that does not have it, then reads it back and compares it with the file. After
 * an interruption it resumes when it is called again; after completion it does nothing. No server may run on the store.
 *
 * @throws {BackupError} for a damaged file, a wrong passphrase, or a project that exists but does not come from this
 * file.
 */
export const importProject = async (deps: ImportDeps): Promise<ImportReport> => {
  const file = await checkFile(deps.open, deps.kinds)
  const { project } = file.header
  const report = { project, inventory: file.inventory }
  assertKnown(deps, file)
  const box = boxOf(file.header.sealing, deps.secrets)
  const marks = new ImportMarks(deps.storage.records, deps.now)
  const mark = await marks.of(project)
  // a mark of a project that was deleted since says nothing
  const isHere = !(await isAbsent({ ...deps, project }))
  if (isHere && mark?.file !== file.sha256) throw present(project)
  if (isHere && mark?.done === true) return { ...report, missing: [], before: true }
  const organization = await deps.organization(project)
  await marks.begin(project, file.sha256)
  const filter = new ItemFilter({ ...deps, header: file.header, organization, box })
  const taken = await write(deps, project, filter)
  const missing = [...filter.missing, ...taken.map((id) => `secret key ${id}: it is a key of another project here`)]
  if (taken.length > 0) filter.leftOut.add(projectKeys.name)
  await verify({ ...deps, project }, file, [...filter.leftOut])
  await unmarkErased(deps.storage, project)
  await marks.finish(project)
  return { ...report, missing, before: false }
}

const assertKnown = ({ kinds }: ImportDeps, { inventory }: CheckedFile): void => {
  const unknown = Object.keys(inventory.records).filter((name) => !kinds.some((kind) => kind.name === name))
  if (unknown.length === 0) return
  throw new BackupError(`The file has ${unknown.join(', ')}, which this release does not know: it is from a later one.`)
}

const write = async (deps: ImportDeps, project: string, filter: ItemFilter): Promise<readonly string[]> => {
  const writer = new ItemWriter({ pause: delay, ...deps, project })
  for await (const bytes of readLines(deps.open())) {
    const line = lineOf(bytes.toString())
    const item = isItem(line) ? filter.pass(line) : null
    if (item !== null) await writer.put(item, bytes.length)
  }
  await writer.end()
  return writer.taken
}

const verify = async (source: ProjectSource, { inventory }: CheckedFile, but: readonly string[]): Promise<void> => {
  const wrong = differences(inventory, await inventoryOf(source), but)
  if (wrong.length === 0) return
  throw new BackupError(
    `The content of the store does not match the file: ${wrong.join(', ')}. Is a server running on it? Stop it and try again.`,
  )
}

const isAbsent = async (source: ProjectSource): Promise<boolean> => {
  const { storage, kinds, project } = source
  const scope = projectScope(project)
  const counts = await Promise.all(kinds.map((kind) => storage.records.count(kind, scope)))
  return (
    (await projectRow(source)) === null &&
    (await storage.commits.ofProject(project, null, 1)).length === 0 &&
    (await storage.blobs.hashes(project, null, 1)).length === 0 &&
    counts.every((count) => count === 0)
  )
}

const present = (project: string): BackupError =>
  new BackupError(`The store already has a project ${project}, which did not come from this file. Nothing was written.`)

/** Decides which items of a file are imported, and in which form. */
class ItemFilter {
  readonly missing: string[] = []
  /** Kinds of which records were not imported. */
  readonly leftOut = new Set<string>()
  /** Whether the file's secret keys were hashed under another master key, so that none of them can ever match here. */
  readonly #dropsKeys: boolean
  readonly #parts: FilterParts
  readonly #sealed: SealedFields

  constructor(parts: FilterParts) {
    this.#parts = parts
    this.#sealed = new SealedFields(parts.kinds)
    this.#dropsKeys = parts.header.pepper !== parts.secrets.pepper
  }

  /** Returns the item to write; null when it is skipped. */
  pass(item: Item): Item | null {
    if (item.type !== 'record') return item
    const { kind, record } = item
    if (record.expires_at !== null && record.expires_at <= this.#parts.now()) return null
    const own = kind === projectKeys.name && this.#dropsKeys ? this.#dropKey(record) : this.#resealed(kind, record)
    if (own === null) this.leftOut.add(kind)
    return own === null ? null : { ...item, record: own }
  }

  #resealed(kind: string, record: StoredRecord): StoredRecord | null {
    const { box, secrets, organization } = this.#parts
    const { record: own, losses } = this.#sealed.resealed(kind, record, { from: box, to: secrets.box })
    this.missing.push(...losses)
    return own !== null && kind === projects.name ? { ...own, project: organization } : own
  }

  #dropKey({ data }: StoredRecord): null {
    if (data.revoked_at_ms === null) {
      const shown = `${data.prefix}…${data.last4} (${data.name})`
      this.missing.push(`secret key ${shown}: it is void under another master key; make a new one`)
    }
    return null
  }
}

interface FilterParts extends Pick<ImportDeps, 'kinds'> {
  readonly header: Header
  readonly organization: string
  /** Opens the file's secrets. */
  readonly box: Secrets['box']
  readonly secrets: Secrets
  readonly now: () => number
}
