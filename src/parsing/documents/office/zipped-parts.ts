import { maxUnpackedBytes } from '#specs/resources/knowledge/knowledge-limits.ts'
import { zipFiles } from '#src/parsing/archives/zip-files.ts'
import { DocumentRefused } from '../document-refused.ts'

/** First bytes of Office documents in the formats before docx, and of those that are protected by a password. */
const oldFormat = Buffer.from([0xd0, 0xcf, 0x11, 0xe0])

/** Texts of the parts of a document, by their paths in its archive. */
export type Parts = ReadonlyMap<string, string>

/**
 * Unpacks the wanted parts of a document that is a zip archive. No other entry is unpacked, so that an archive within the
 * archive is not opened. A part is UTF-8.
 *
 * @throws {DocumentRefused}, and {Error} for other bytes.
 */
export const zippedParts = async (bytes: Uint8Array, isWanted: (path: string) => boolean): Promise<Parts> => {
  if (oldFormat.equals(bytes.subarray(0, oldFormat.length))) throw new DocumentRefused('old_office_format')
  const parts = new Map<string, string>()
  let unpacked = 0
  for await (const { path, size, read } of zipFiles(bytes)) {
    if (!isWanted(path)) continue
    // what an archive declares is checked before anything is unpacked; an entry that unpacks to more is an error
    unpacked += size
    if (unpacked > maxUnpackedBytes) throw new DocumentRefused('too_much_unpacked')
    parts.set(path, decoded(await read()))
  }
  return parts
}

/** Decodes a part, whose encoding is UTF-8 except where a byte order mark says UTF-16. */
const decoded = (bytes: Buffer): string => {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  return new TextDecoder(isUtf16 ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8').decode(bytes)
}
