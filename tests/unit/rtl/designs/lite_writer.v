// SPDX-License-Identifier: Apache-2.0
// An AXI4-Lite manager: writes a word, reads it, and compares. Bit 1 of the address is set, as adapters of buses leave it.
module lite_writer (
    input             clk,
    input             rst_n,
    output reg        awvalid,
    input             awready,
    output     [31:0] awaddr,
    output reg        wvalid,
    input             wready,
    output     [31:0] wdata,
    output     [3:0]  wstrb,
    input             bvalid,
    input      [1:0]  bresp,
    output            bready,
    output reg        arvalid,
    input             arready,
    output     [31:0] araddr,
    input             rvalid,
    input      [31:0] rdata,
    input      [1:0]  rresp,
    output            rready,
    output reg        is_equal
);
    reg has_begun;
    assign awaddr = 32'h16;
    assign araddr = 32'h16;
    assign wdata  = 32'h44332211;
    assign wstrb  = 4'hf;
    assign {bready, rready} = 2'b11;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            {awvalid, wvalid, arvalid, is_equal, has_begun} <= 0;
        end else begin
            has_begun <= 1;
            if (!has_begun) {awvalid, wvalid} <= 2'b11;
            if (awvalid && awready) awvalid <= 0;
            if (wvalid && wready) wvalid <= 0;
            if (bvalid) arvalid <= 1;
            if (arvalid && arready) arvalid <= 0;
            if (rvalid) is_equal <= rdata == wdata;
        end
endmodule
