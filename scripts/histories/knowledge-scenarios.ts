import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { syncDelaysMs } from '#machines/knowledge-source/knowledge-source.ts'
import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import { newId } from '#runtime/ids.ts'
import { ParserFailed } from '#src/parsing/parser-pool.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { readText, type ScriptedDocuments } from '#test/actors/knowledge/scripted-sources.ts'
import type { World } from '#test/actors/sessions/harness.ts'
import { calm, type VirtualClock } from '#test/support/virtual-clock.ts'
import type { Scenario } from './scenarios.ts'

const intervalS = 3600
const pollMs = 1000

const works: Required<Omit<ScriptedDocuments, 'parser' | 'rests'>> = {
  read: readText,
  embedder: async () => null,
  page: () => ({ status: 200, text: 'Words of a page.' }),
}
let documents = works

const broken = { id: 'broken', dimensions: 2, embed: () => Promise.reject(new Error('it does not answer')) }
const busy = async () => {
  throw new ParserFailed('busy', 'too many documents')
}

const source = async ({ host, clock, storage }: World, url: string | null = null): Promise<string> => {
  const source_id = newId('src')
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  const blobs = new SourceBlobs(storage.blobs, clock.now)
  const what = { mime_type: 'text/plain', filename: null }
  const upload =
    url === null ? await blobs.putUpload({ ...owner, source: source_id }, Buffer.from('Words.'), what) : null
  const input = {
    ...{
      source_id,
      knowledge_base_id: 'kb_a',
      created_by: null,
      type: url === null ? 'text' : 'url',
      title: null,
      url,
      upload,
    },
    ...{ refresh_interval_s: url === null ? null : intervalS, metadata: {}, filename: null, mime_type: 'text/plain' },
  }
  await host.create({ kind: sourceDefinition, id: source_id, owner, input, cause: newId('req') })
  await calm()
  return source_id
}

const give = async ({ host }: World, id: string, event: StoredEvent): Promise<void> => {
  await host.deliver(id, { event, cause: newId('req') })
  await calm()
}

const retried = async (clock: VirtualClock): Promise<void> => {
  for (const delay of syncDelaysMs) await clock.advance(delay + pollMs)
}

/** Together, these reach every state of a source. */
export const knowledgeScenarios: readonly Scenario[] = [
  {
    name: 'sources',
    scripts: [],
    documents: {
      read: (bytes) => documents.read(bytes),
      embedder: () => documents.embedder(),
      page: () => documents.page(),
    },
    play: async (world, clock) => {
      documents = works
      const text = await source(world)
      await give(world, text, { type: 'sync', upload: null })
      await give(world, text, { type: 'update', title: 'Words' })
      const page = await source(world, 'https://example.com/page')
      await clock.advance(intervalS * 1000 + pollMs)
      await give(world, page, { type: 'update', refresh_interval_s: null })
      documents = { ...works, embedder: async () => broken }
      await give(world, text, { type: 'embed' })
      await retried(clock)
      documents = { ...works, read: busy }
      await source(world)
      await retried(clock)
      documents = { ...works, page: () => ({ status: 404, text: '' }) }
      const gone = await source(world, 'https://example.com/gone')
      await give(world, gone, { type: 'delete' })
      documents = { ...documents, embedder: async () => broken }
      await give(world, page, { type: 'sync', upload: null })
      for (const _ of ['the page', 'its vectors']) await retried(clock)
      await clock.advance(pollMs)
    },
  },
]
