import { serveParsers } from '../serve-parsers.ts'
import { pageTasks } from './page-tasks.ts'

serveParsers(pageTasks)
