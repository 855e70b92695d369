import { onPath } from '../services/command.ts'

/** Services of tests by their commands; those that are missing are installed when the first test needs them. */
const services: Readonly<Record<string, readonly string[]>> = {
  MongoDB: ['mongod'],
  Redis: ['redis-server'],
  Chromium: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
}

/**
 * Returns what `npm test` prints first, since the first result may follow minutes later: what is run, how long that
 * takes, and what is installed.
 *
 * @param parts parts of paths; none for all tests.
 */
export const beginning = (parts: readonly string[], find: typeof onPath = onPath): string => {
  const run =
    parts.length === 0
      ? 'Running all tests, which takes about 12 minutes on two cores. `npm test -- PART OF A PATH` runs some.'
      : `Running the tests whose paths contain ${parts.join(' or ')}.`
  const missing = Object.entries(services).flatMap(([name, commands]) => (find(...commands) === null ? [name] : []))
  const installed = `Not on the PATH: ${missing.join(', ')}. What the tests need of it is installed into .cache, without root, in a minute or two; later runs reuse it.`
  return missing.length === 0 ? run : `${run}\n${installed}`
}
