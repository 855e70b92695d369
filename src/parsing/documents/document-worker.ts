import { serveParsers } from '../serve-parsers.ts'
import { documentTasks } from './document-tasks.ts'

serveParsers(documentTasks)
