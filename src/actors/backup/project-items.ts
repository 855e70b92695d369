import { isUtf8 } from 'node:buffer'
import { type Commit, projectScope, type RecordKind, type Scope, type StoredRecord } from '#storage/index.ts'
import { projectKeys, projects } from '../accounts/kinds.ts'
import type { Services } from '../capability/services.ts'
import { isOfSegment } from '../indexing/segment-blobs.ts'
import type { AnyKind } from '../records/schema.ts'
import type { Item } from './schema.ts'

/** The store and the project to read. */
export interface ProjectSource extends Pick<Services, 'kinds' | 'storage'> {
  readonly project: string
}

/** Commits per page: at most 256 KB each, so 25 MB. */
const commitPage = 100
const rowPage = 500

/**
 * Yields everything of a project, a page at a time, in the order in which an import writes it: blobs before the commits
 * that refer to them, records after their commits, and last what gives callers access: secret keys and the project
 * itself.
 */
export async function* itemsOf(source: ProjectSource): AsyncGenerator<Item> {
  yield* blobsOf(source)
  for await (const commit of commitsOf(source)) yield { type: 'commit', commit }
  const last = [projectKeys.name, projects.name]
  const plain = source.kinds.filter(({ name }) => !last.includes(name))
  for (const kind of plain) yield* settingOf(source, kind)
  for (const kind of [...plain, projectKeys]) yield* recordsOf(source, kind, projectScope(source.project))
  const row = await projectRow(source)
  if (row !== null) yield { type: 'record', kind: projects.name, record: row }
}

/** The project's own row, which belongs to its organisation; null when there is none. */
export const projectRow = ({ storage, project }: Pick<ProjectSource, 'storage' | 'project'>) =>
  storage.records.findGlobal(projects, { project_id: project })

/** Yields all blobs but the segments of indexes, which a search makes anew of what they were made of. */
async function* blobsOf({ storage, project }: ProjectSource): AsyncGenerator<Item> {
  let after: string | null = null
  for (;;) {
    const hashes: readonly string[] = await storage.blobs.hashes(project, after, rowPage)
    for (const hash of hashes) {
      if (isOfSegment(hash)) continue
      const bytes = await storage.blobs.bytes(project, hash)
      if (bytes === null) continue
      const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      if (isUtf8(content)) yield { type: 'blob', hash, content: content.toString() }
      else yield { type: 'bytes', hash, content: content.toString('base64') }
    }
    after = hashes.at(-1) ?? null
    if (after === null) return
  }
}

async function* commitsOf({ storage, project }: ProjectSource): AsyncGenerator<Commit> {
  let after: Commit | null = null
  for (;;) {
    const commits: readonly Commit[] = await storage.commits.ofProject(project, after, commitPage)
    yield* commits
    after = commits.at(-1) ?? null
    if (after === null) return
  }
}

/** Yields the project's settings that are stored at installation level. */
async function* settingOf({ storage, project }: ProjectSource, kind: AnyKind): AsyncGenerator<Item> {
  const id = kind.ofProject?.(project)
  const record = id === undefined ? null : await storage.records.get(kind, projectScope('system'), id)
  if (record !== null) yield { type: 'record', kind: kind.name, record }
}

async function* recordsOf({ storage }: ProjectSource, kind: RecordKind, scope: Scope): AsyncGenerator<Item> {
  let after: string | undefined
  for (;;) {
    const query = { limit: rowPage, ascending: true, ...(after !== undefined && { after }) }
    const records: readonly StoredRecord[] = await storage.records.list(kind, scope, query)
    for (const record of records) yield { type: 'record', kind: kind.name, record }
    after = records.at(-1)?.id
    if (after === undefined) return
  }
}
