import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { backgroundOf } from '../src/retrieval/ranking/background.ts'
import { measured } from './calibration/measure.ts'
import { openModel } from './calibration/open-model.ts'
import { readSets, type Sets } from './calibration/sets.ts'
import { ownSets } from './calibration/topics.ts'
import { isForBeingWhole } from './extent.ts'
import { KeptEmbedder } from './recall/kept-embedder.ts'
import type { Row } from './row.ts'

/**
 * Measures what the default threshold lets through, for scopes of 1 to 10,000 memories: questions whose answer was said,
 * and questions about what never was. The folder (or its subfolder `recall`) contains `people`, `questions`,
 * `strangers` and `distractors` (`.jsonl`); without one, the small set beside this file is measured.
 *
 * Words alone first; then with the model in the folder EMBEDDER_PATH, or with the packaged one if EMBEDDER is `local`.
 * Vectors are cached in the file EMBEDDINGS_FILE if that is set. CALIBRATION_LARGEST limits the size of the scopes.
 */
export async function benchCalibration(folder: string | null): Promise<readonly Row[]> {
  const sets = setsIn(folder)
  const largest = isForBeingWhole ? 20 : Number(process.env.CALIBRATION_LARGEST ?? 10_000)
  const rows = [...(await measured(sets, null, largest))]
  const path = process.env.EMBEDDER_PATH ?? (process.env.EMBEDDER === 'local' ? 'packaged' : undefined)
  if (path === undefined) return rows
  const local = await openModel(path)
  try {
    const file = process.env.EMBEDDINGS_FILE
    const embedder = file === undefined ? local : new KeptEmbedder(local, file)
    rows.push(
      ...(await measured(
        sets,
        { embedder, background: await backgroundOf({ embed: (texts, use) => embedder.embed(texts, use) }) },
        largest,
      )),
    )
  } finally {
    await local.close()
  }
  return rows
}

function setsIn(folder: string | null): Sets {
  if (folder === null) return ownSets()
  const place = [folder, join(folder, 'recall')].find((each) => existsSync(join(each, 'people.jsonl')))
  if (place === undefined) throw new Error(`no people.jsonl in ${folder}`)
  return readSets(place)
}
