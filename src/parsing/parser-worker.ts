import { parserTasks } from './parser-tasks.ts'
import { serveParsers } from './serve-parsers.ts'

serveParsers(parserTasks)
