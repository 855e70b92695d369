import { on } from 'node:events'
import { crc32 } from 'node:zlib'
import { type Entry, fromBuffer, type ZipFile } from 'yauzl'

/** A file of a zip archive. */
export interface ZippedFile {
  readonly path: string
  readonly isLink: boolean
  /** Whether it is a device, pipe or socket, which has no content. */
  readonly isSpecial: boolean
  /** Uncompressed size as declared by the archive; `read` rejects a file of a different size. */
  readonly size: number
  /** Unpacks the file; only valid until the next file is requested. */
  read(): Promise<Buffer>
}

const linkMode = 0o120000
/** File types of regular files; 0 for archives not made on Unix. */
const plainModes: readonly number[] = [0, 0o100000]
const typeMode = 0o170000

/** Yields the files of a zip archive, without folders. @throws {Error} when it is not a zip archive, or is damaged. */
export async function* zipFiles(bytes: Uint8Array): AsyncGenerator<ZippedFile> {
  const archive = await opened(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const entries = on(archive, 'entry', { close: ['end'] })
  archive.readEntry()
  for await (const [entry] of entries) {
    if (!entry.fileName.endsWith('/')) yield fileOf(archive, entry)
    archive.readEntry()
  }
}

const opened = (buffer: Buffer): Promise<ZipFile> =>
  new Promise((resolve, reject) =>
    fromBuffer(buffer, { lazyEntries: true, validateEntrySizes: true, strictFileNames: false }, (error, file) =>
      error === null ? resolve(file) : reject(error),
    ),
  )

const fileOf = (archive: ZipFile, entry: Entry): ZippedFile => {
  const mode = (entry.externalFileAttributes >>> 16) & typeMode
  return {
    path: entry.fileName,
    isLink: mode === linkMode,
    isSpecial: mode !== linkMode && !plainModes.includes(mode),
    size: entry.uncompressedSize,
    read: () => contentOf(archive, entry),
  }
}

const contentOf = async (archive: ZipFile, entry: Entry): Promise<Buffer> => {
  const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) =>
    archive.openReadStream(entry, (error, opened) => (error === null ? resolve(opened) : reject(error))),
  )
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(Buffer.from(part))
  const content = Buffer.concat(parts)
  if (crc32(content) !== entry.crc32) throw new Error('a file of the archive is damaged')
  return content
}
