import type { Target } from '../target/target.js';

/** A product that was started for the suite, and how it was configured. */
export interface Scene {
  readonly target: Target;
  stop(): Promise<void>;
}

export interface Surroundings {
  /** Folder of the material that the peers are built from. */
  readonly shared: string;
  /** Root of this project. */
  readonly project: string;
  /** Folder that this scene may fill. */
  readonly work: string;
}

export interface Peer {
  /** Folder name of its results. */
  readonly name: string;
  /** Why it cannot be run here; undefined when it can. */
  missing(where: Surroundings): Promise<string | undefined>;
  start(where: Surroundings): Promise<Scene>;
}
