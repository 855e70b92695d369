import { availableParallelism } from 'node:os'
import type { Logger } from 'pino'
import { type Config, ConfigError } from './config.ts'
import { LocalEmbedder, PackagedEmbedder, packagedModel, type ReadersOff } from './retrieval/index.ts'

/** The embedders of an installation. */
export interface Embedders {
  /** The model of this machine; null: none. */
  readonly embedder: LocalEmbedder | PackagedEmbedder | null
  /** The same, for web pages: only a model that the operator chose, since embedding a page takes seconds. */
  readonly pageEmbedder: LocalEmbedder | null
  /** Embedder of projects that name none. */
  readonly defaultEmbedder: string
}

/** Processors that the packaged model uses at most: half of them, so that the server keeps its share. */
const maxThreads = 4

const offMessage =
  'the sentence model cannot be used, so texts are found by their words; EMBEDDER names another embedder, or none'

const judgeOffMessage = 'the model that judges instructions cannot be used, so memories are screened by rules alone'

const updateOffMessage = 'the model that compares memories cannot be used, so rules alone decide what is superseded'

const updateReaderOffMessage = 'the model that reads two memories together cannot be used, so fewer updates are noticed'

const suspectOffMessage = 'the model that reads skills cannot be used, so they are screened by rules alone'

const readerOffMessage = 'the model that judges memories cannot be used, so their scores are those of words and vectors'

/** Opens the embedders. @throws {ConfigError} when the operator's model cannot be opened. */
export async function openEmbedders(config: Config, log: Logger): Promise<Embedders> {
  const defaultEmbedder = config.embedder
  if (defaultEmbedder === 'none') return { embedder: null, pageEmbedder: null, defaultEmbedder }
  const embedder = await localEmbedderOf(
    config,
    (reason) => log.warn({ reason }, offMessage),
    ({ read, judge, compare, together, suspect }) => {
      if (read !== null) log.warn({ reason: read }, readerOffMessage)
      if (judge !== null) log.warn({ reason: judge }, judgeOffMessage)
      if (compare !== null) log.warn({ reason: compare }, updateOffMessage)
      if (together !== null) log.warn({ reason: together }, updateReaderOffMessage)
      if (suspect !== null) log.warn({ reason: suspect }, suspectOffMessage)
    },
  )
  return { embedder, pageEmbedder: embedder instanceof LocalEmbedder ? embedder : null, defaultEmbedder }
}

/**
 * Returns the model of this machine. The packaged one is opened when it is first used, and one that an operator has
 * chosen at once.
 *
 * @param off called once with the reason, if the packaged one cannot be used.
 * @param readersOff called with the reasons, if only the networks beside it cannot be used.
 * @throws {ConfigError} when the operator's model cannot be opened.
 */
export const localEmbedderOf = async (
  { embedderPath }: Pick<Config, 'embedderPath'>,
  off: (reason: string) => void,
  readersOff?: (off: ReadersOff) => void,
): Promise<LocalEmbedder | PackagedEmbedder> => {
  if (embedderPath !== null) return await openChosen(embedderPath)
  const threads = Math.max(1, Math.min(maxThreads, Math.floor(availableParallelism() / 2)))
  return new PackagedEmbedder({ place: { ...packagedModel, threads }, off, ...(readersOff && { readersOff }) })
}

/** Opens a sentence model in a separate process, whose threads leave one core to the server. */
const openChosen = async (folder: string): Promise<LocalEmbedder> => {
  try {
    return await LocalEmbedder.open({ folder, threads: Math.max(1, availableParallelism() - 1) })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError([`EMBEDDER_PATH must be the folder of a sentence model (${reason})`], { cause })
  }
}
