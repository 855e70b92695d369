import { EmbedderUnavailable } from '#retrieval/embedder.ts'
import { type Config, ConfigError } from '#src/config.ts'
import { localEmbedderOf } from '#src/open-embedders.ts'
import { type Finding, ok, reasonOf, warning } from './finding.ts'

/** Checks that the model of this machine can make a vector, which takes some seconds, and that the networks beside it can be used. */
export const checkEmbedder = async (config: Pick<Config, 'embedder' | 'embedderPath'>): Promise<Finding> => {
  if (config.embedder !== 'local') return ok('embedder', `EMBEDDER=${config.embedder}`)
  const reasons: string[] = []
  const beside: string[] = []
  try {
    const embedder = await localEmbedderOf(
      config,
      (reason) => reasons.push(reason),
      (off) => beside.push(...Object.values(off).filter((reason) => reason !== null)),
    )
    try {
      await embedder.embed(['probe'], 'passage')
      const [lost] = beside
      const judged = 'Memories and skills are judged by rules where a model would judge better.'
      if (lost !== undefined) return warning('embedder', lost, judged)
      return ok('embedder', `${embedder.id} makes vectors of ${embedder.dimensions} numbers`)
    } finally {
      await embedder.close()
    }
  } catch (error) {
    const [reason = reasonOf(error)] = reasons
    const advice =
      'Texts are found by their words. In a checkout, `npm ci` installs the runtime; the package has no model: EMBEDDER_PATH names a folder with one. EMBEDDER names another embedder, or none.'
    if (error instanceof EmbedderUnavailable || error instanceof ConfigError) return warning('embedder', reason, advice)
    throw error
  }
}
