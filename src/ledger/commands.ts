import type { Ledger } from './port.js';
import type { CommandName, Commands } from './transition.js';
import type { DuplicateKey } from './record.js';

/** The one step an engine has to offer: judge the standing record of `key` with `transition` and write the result. */
export type Apply = <K extends CommandName>(name: K, key: DuplicateKey, command: Commands[K]['in']) => Promise<Commands[K]['out']>;

/** The port's commands, each of them that one step. */
export function commandsOver(apply: Apply): Pick<Ledger, CommandName | 'adoptAll'> {
  return {
    claim: (command) => apply('claim', command.key, command),
    renew: (command) => apply('renew', command.key, command),
    settle: (command) => apply('settle', command.key, command),
    release: (command) => apply('release', command.key, command),
    attach: (command) => apply('attach', command.key, command),
    revoke: (command) => apply('revoke', command.key, command),
    extend: (command) => apply('extend', command.key, command),
    forget: (command) => apply('forget', command.key, command),
    operatorSettle: (command) => apply('operatorSettle', command.key, command),
    operatorRelease: (command) => apply('operatorRelease', command.key, command),
    adopt: (record) => apply('adopt', record.key, record),
    adoptAll: (records) => Promise.all(records.map((record) => apply('adopt', record.key, record))),
  };
}
