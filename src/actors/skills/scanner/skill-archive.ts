import { gunzipSync } from 'node:zlib'
import { zipFiles } from '#src/parsing/archives/zip-files.ts'
import { readTar } from './tar.ts'

/** A file of an archive, with its bytes in base64. */
export type ArchivedFile = { readonly path: string; readonly base64: string }

/** Limits of an archive: number of files, total size in bytes, and length of a path. */
const archiveLimits = { files: 200, bytes: 20 * 1024 * 1024, pathLength: 256 } as const

const gzip = [0x1f, 0x8b]
const zip = [0x50, 0x4b]

/** Counts a file and its bytes. @throws {Error} when the totals exceed `archiveLimits` */
export type ArchiveCount = (bytes: number) => void

/**
 * Returns the files of a zip or tar.gz: without links or paths that leave the archive, within `archiveLimits`. SKILL.md
 * must be at the root or one folder deep; in the latter case, that folder becomes the root.
 *
 * @throws {Error} with a message that describes the fault
 */
export const archivedFiles = async (bytes: Uint8Array): Promise<readonly ArchivedFile[]> =>
  withoutFolder(await everyFile(bytes, archiveCount()))

/**
 * Returns the files of an archive, which need not be a skill.
 *
 * @param counted may also count other archives.
 * @throws {Error}
 */
export const everyFile = async (bytes: Uint8Array, counted: ArchiveCount): Promise<readonly ArchivedFile[]> => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const files = startsWith(buffer, zip) ? await unzip(buffer, counted) : untar(buffer, counted)
  return files.filter(({ path }) => !isClutter(path)).map(checked)
}

const startsWith = (bytes: Buffer, magic: readonly number[]): boolean =>
  magic.every((byte, index) => bytes[index] === byte)

interface Unpacked {
  readonly path: string
  readonly bytes: Buffer
}

const untar = (buffer: Buffer, counted: ArchiveCount): readonly Unpacked[] => {
  const tar = startsWith(buffer, gzip) ? gunzipSync(buffer, { maxOutputLength: 2 * archiveLimits.bytes }) : buffer
  return readTar(tar).map(({ path, isLink, bytes }) => {
    if (isLink) throw new Error(`${shown(path)} is a link`)
    counted(bytes.length)
    return { path, bytes }
  })
}

const unzip = async (buffer: Buffer, counted: ArchiveCount): Promise<readonly Unpacked[]> => {
  const files: Unpacked[] = []
  for await (const { path, isLink, isSpecial, size, read } of zipFiles(buffer)) {
    if (isLink || isSpecial) throw new Error(`${shown(path)} is ${isLink ? 'a link' : 'no file'}`)
    counted(size)
    files.push({ path, bytes: await read() })
  }
  return files
}

/** Returns a counter of files and bytes. It is called before unpacking where the archive states the sizes. */
export const archiveCount = (): ArchiveCount => {
  let [files, total] = [0, 0]
  return (bytes) => {
    files += 1
    total += bytes
    if (files > archiveLimits.files) throw new Error(`the archive has more than ${archiveLimits.files} files`)
    if (total > archiveLimits.bytes) throw new Error(`the archive unpacks to more than ${archiveLimits.bytes} bytes`)
  }
}

/** Control characters, invisible or bidirectional formatting characters, and replacements of invalid UTF-8. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\ufffd]/u

/** Returns a path as it may be quoted in a message. */
const shown = (path: string): string => JSON.stringify(path.slice(0, archiveLimits.pathLength))

/** Whether a file is one that file managers add to archives. */
const isClutter = (path: string): boolean => /(?:^|\/)(?:__MACOSX\/|\.DS_Store$|\._)/u.test(path)

const checked = ({ path, bytes }: Unpacked): ArchivedFile => {
  const parts = path.replace(/^\.\//u, '').split('/')
  const isOutside =
    path.startsWith('/') || /^[a-z]:|\\/iu.test(path) || parts.some((part) => part === '..' || part === '')
  if (path.length > archiveLimits.pathLength) throw new Error('a path is too long')
  if (isOutside || parts.includes('.')) throw new Error(`the path ${shown(path)} points outside the archive`)
  if (unprintable.test(path)) throw new Error(`the path ${shown(path)} has invisible characters`)
  return { path: parts.join('/'), base64: bytes.toString('base64') }
}

/** Returns the files relative to the folder of SKILL.md, which is the root or one folder deep. */
const withoutFolder = (files: readonly ArchivedFile[]): readonly ArchivedFile[] => {
  if (files.some(({ path }) => path === 'SKILL.md')) return unique(files)
  const folders = files.flatMap(({ path }) => /^([^/]+\/)SKILL\.md$/u.exec(path)?.[1] ?? [])
  const [folder] = folders
  if (folder === undefined) throw new Error('the archive has no SKILL.md at its root or one folder deep')
  if (folders.length > 1) throw new Error('the archive has more than one SKILL.md one folder deep')
  return unique(
    files.flatMap(({ path, base64 }) => (path.startsWith(folder) ? [{ path: path.slice(folder.length), base64 }] : [])),
  )
}

const unique = (files: readonly ArchivedFile[]): readonly ArchivedFile[] => {
  const names = new Set(files.map(({ path }) => placeOf(path)))
  if (names.size < files.length) throw new Error('two files of the archive have the same path')
  const isInside = (name: string) =>
    name.split('/').some((_, index, parts) => index > 0 && names.has(parts.slice(0, index).join('/')))
  if ([...names].some(isInside)) throw new Error('a file of the archive has the path of a folder')
  return files
}

/**
 * Returns a key that is equal for paths that some file system treats as the same, by folding case, composing
 * characters, or dropping dots and spaces at the end.
 */
const placeOf = (path: string): string =>
  path
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .split('/')
    .map((part) => part.replace(/[. ]{1,256}$/u, ''))
    .join('/')
