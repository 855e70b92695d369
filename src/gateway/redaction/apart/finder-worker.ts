import { serveParsers } from '#src/parsing/serve-parsers.ts'
import { finderTasks } from './finder-tasks.ts'

serveParsers({ ...finderTasks })
