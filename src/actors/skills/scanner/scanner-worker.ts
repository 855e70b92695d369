import { serveParsers } from '#src/parsing/serve-parsers.ts'
import { scannerTasks } from './scanner-tasks.ts'

serveParsers(scannerTasks)
