import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** Options by name as `parseArgs` takes them, and what `--help` prints. */
interface CommandLine<Options extends ParseArgsOptionsConfig> {
  readonly usage: string
  readonly options: Options
}

/**
 * The options that a command was called with. `--help` prints its usage and ends the process with 0; what it does not
 * know, or takes no value, ends it with 2, before anything is done.
 */
export const readCommandLine = <Options extends ParseArgsOptionsConfig>(
  { usage, options }: CommandLine<Options>,
  args: readonly string[] = process.argv.slice(2),
) => {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`)
    process.exit(0)
  }
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`)
    return process.exit(2)
  }
}
