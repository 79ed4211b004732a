/** Connections that one caller at a time has to itself; made on demand, at most `size`, and given back or dropped. */
export class Leases<C> {
  readonly #make: () => Promise<C>;
  readonly #drop: (connection: C) => void;
  readonly #size: number;
  readonly #idle: C[] = [];
  readonly #waiting: (() => void)[] = [];
  #made = 0;

  constructor(make: () => Promise<C>, drop: (connection: C) => void, size = 16) {
    this.#make = make;
    this.#drop = drop;
    this.#size = size;
  }

  /** Runs `use` with a connection of its own. A connection whose use failed is not used again. */
  async with<T>(use: (connection: C) => Promise<T>): Promise<T> {
    while (this.#idle.length === 0 && this.#made >= this.#size) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    let connection = this.#idle.pop();
    if (connection === undefined) {
      this.#made += 1;
      try {
        connection = await this.#make();
      } catch (error) {
        this.#lost();
        throw error;
      }
    }
    try {
      const result = await use(connection);
      this.#idle.push(connection);
      this.#waiting.shift()?.();
      return result;
    } catch (error) {
      this.#drop(connection);
      this.#lost();
      throw error;
    }
  }

  #lost(): void {
    this.#made -= 1;
    this.#waiting.shift()?.();
  }

  close(): void {
    for (const connection of this.#idle.splice(0)) this.#drop(connection);
  }
}
