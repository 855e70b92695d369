import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/*
 * Runs command lines of scripts one after the other in this process, which loads their modules once, and prints what each
 * wrote and with which code it exited, as JSON. Only the script itself is evaluated again for each line. Lines are read as
 * JSON from the first argument; each must exit by itself, as for `--help` and for options that are refused.
 */

/** A script and its arguments. */
export interface CommandLine {
  readonly file: string
  readonly args: readonly string[]
  /** The command of `troupe` that runs it; absent for a command of npm. */
  readonly command?: string
}

/** What a command line did; status null: it did not exit. */
export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

const write = process.stdout.write.bind(process.stdout)
const end = process.exit.bind(process)

const outcomeOf = async ({ file, args, command }: CommandLine, nth: number): Promise<Outcome> => {
  const printed = { stdout: '', stderr: '' }
  let status: number | null = null
  process.argv = [process.execPath, resolve(file), ...args]
  if (command !== undefined) process.env.TROUPE_COMMAND = command
  for (const stream of ['stdout', 'stderr'] as const)
    process[stream].write = (text: string | Uint8Array) => {
      // a script that catches its own end in this process may print it
      if (status === null) printed[stream] += String(text)
      return true
    }
  process.exit = (code) => {
    status ??= Number(code ?? 0)
    throw new Error('the script has exited')
  }
  try {
    await import(`${pathToFileURL(resolve(file)).href}?line=${nth}`)
  } catch (error) {
    if (status === null) printed.stderr += String(error)
  }
  return { status, ...printed }
}

const lines: readonly CommandLine[] = JSON.parse(process.argv[2] ?? '[]')
const outcomes: Outcome[] = []
for (const [nth, line] of lines.entries()) outcomes.push(await outcomeOf(line, nth))
write(JSON.stringify(outcomes), () => end(0))
