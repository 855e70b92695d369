/** The server has no options: ends the process with its usage for `--help`, and for anything else that is given. */
export const endForArguments = () => {
  const [argument] = process.argv.slice(2)
  if (argument === undefined) return
  const typed = process.env.TROUPE_COMMAND === undefined ? 'npm start' : 'troupe start'
  const usage = `usage: ${typed}\n\nStarts the server. It is configured by variables, such as PORT=8080 (docs/operating.md).\n`
  const isHelp = argument === '--help' || argument === '-h'
  ;(isHelp ? process.stdout : process.stderr).write(isHelp ? usage : `Unexpected argument '${argument}'.\n${usage}`)
  process.exit(isHelp ? 0 : 2)
}
