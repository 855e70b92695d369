import { serveParsers } from '#src/parsing/serve-parsers.ts'
import { guardTasks } from './guard-tasks.ts'

serveParsers({ ...guardTasks })
