import { createHash } from 'node:crypto'
import type { AnyKind } from '../records/schema.ts'
import { contentHashOf } from '../runtime/internal.ts'
import { BackupError } from './backup-error.ts'
import { differences, Inventory, type InventoryData } from './inventory.ts'
import { readLines } from './read-lines.ts'
import { type End, type Header, type Item, type Line, lineOf } from './schema.ts'
import { SealedFields } from './sealed-fields.ts'

/** Opens a file; each call yields its bytes from the beginning. */
export type OpenFile = () => AsyncIterable<Uint8Array>

/** A verified file. */
export interface CheckedFile {
  readonly header: Header
  readonly inventory: InventoryData
  /** SHA-256 of its bytes before the end line; identifies the file. */
  readonly sha256: string
}

/**
 * Reads a file to its end and verifies that it is complete and unmodified, and that each line has this format.
 *
 * @throws {BackupError} with a message that describes the fault.
 */
export const checkFile = async (open: OpenFile, kinds: readonly AnyKind[]): Promise<CheckedFile> => {
  const hash = createHash('sha256')
  const inventory = new Inventory(new SealedFields(kinds))
  let header: Header | undefined
  let end: End | undefined
  for await (const bytes of readLines(open())) {
    if (end !== undefined) throw new BackupError('The file has content after its end marker.')
    const line = lineOf(bytes.toString())
    if ((header === undefined) !== (line.type === 'header'))
      throw new BackupError('The file must have exactly one header.')
    if (line.type === 'header') header = line
    if (line.type === 'end') end = line
    else hash.update(bytes).update('\n')
    if (isItem(line)) inventory.add(checked(line, header))
  }
  if (header === undefined) throw new BackupError('The file is empty.')
  if (end === undefined) throw new BackupError('The file is truncated: its end is missing. Export again.')
  if (end.sha256 !== hash.digest('hex')) throw new BackupError('The file was modified: its hash does not match.')
  const wrong = differences(end.inventory, inventory.taken())
  if (wrong.length > 0)
    throw new BackupError(`The content of the file does not match its summary: ${wrong.join(', ')}.`)
  return { header, inventory: end.inventory, sha256: end.sha256 }
}

/** Whether a line is an item of the project. */
export const isItem = (line: Line): line is Item => line.type !== 'header' && line.type !== 'end'

/**
 * Whether a blob has the content that its name says. Vectors of knowledge sources are named by the texts that they were
 * computed from, not by themselves (`SourceBlobs.putKeyed`), and images of turns by their ids: one may be text too.
 */
const isOfItsName = ({ hash, content }: Item & { readonly type: 'blob' }): boolean =>
  /\.vec\.[0-9a-f]{64}$|\.image\.img_[0-9a-z]{26}$/.test(hash) ||
  createHash('sha256').update(content).digest('hex') === contentHashOf(hash)

const checked = (item: Item, header: Header | undefined): Item => {
  const foreign =
    (item.type === 'commit' && item.commit.project !== header?.project) || (item.type === 'blob' && !isOfItsName(item))
  if (foreign) throw new BackupError(`The file has a ${item.type} that does not belong to it.`)
  return item
}
