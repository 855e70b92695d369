import { endForArguments } from './start-arguments.js'

/* Starts the server of the package, whose modules are bundled when it is packed (scripts/package). */
endForArguments()
const { run } = await import('../main.ts')
await run()
