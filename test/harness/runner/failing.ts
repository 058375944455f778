describe('a file with a failing test', () => {
  it('passes', () => undefined);
  it('fails', () => {
    console.log('written by the failing test');
    throw new Error('the reason of the failing test');
  });
});
