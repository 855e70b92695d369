import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { commitOf } from '#test/storage/samples.ts'

/**
 * Appends commits endlessly from eight actors to the file named as argument, and prints `<actor>/<seq>` of each
 * acknowledged commit.
 */
const [, , path = ''] = process.argv
const store = openSqliteStorage({ path })

const write = async (actor: string): Promise<void> => {
  for (let seq = 1; ; seq++) {
    const [outcome] = await store.commits.append([commitOf(actor, seq)])
    if (outcome === 'done') process.stdout.write(`${actor}/${seq}\n`)
  }
}

await Promise.all(Array.from({ length: 8 }, (_, i) => write(`ses_${i}`)))
