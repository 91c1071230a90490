// SPDX-License-Identifier: Apache-2.0
// 16 registers behind AXI4-Lite; each handshake waits for a random time. Addresses from 0x40 are refused: SLVERR, from 0x80 DECERR.
module lite_registers (
    input             clk,
    input             rst_n,
    input      [7:0]  s_axi_awaddr,
    input             s_axi_awvalid,
    output            s_axi_awready,
    input      [31:0] s_axi_wdata,
    input      [3:0]  s_axi_wstrb,
    input             s_axi_wvalid,
    output            s_axi_wready,
    output     [1:0]  s_axi_bresp,
    output            s_axi_bvalid,
    input             s_axi_bready,
    input      [7:0]  s_axi_araddr,
    input             s_axi_arvalid,
    output            s_axi_arready,
    output     [31:0] s_axi_rdata,
    output     [1:0]  s_axi_rresp,
    output            s_axi_rvalid,
    input             s_axi_rready
);
    reg [31:0] registers [0:15];
    reg [15:0] random;
    reg        has_address, has_data, has_write_answer, has_read, has_read_answer;
    reg [7:0]  write_address, read_address;
    reg [31:0] data;
    reg [3:0]  strobe;
    function [1:0] response(input [7:0] address);
        response = address[7] ? 2'd3 : address[6] ? 2'd2 : 2'd0;
    endfunction
    assign s_axi_awready = !has_address && random[0];
    assign s_axi_wready  = !has_data && random[3];
    assign s_axi_arready = !has_read && random[5];
    assign s_axi_bvalid  = has_write_answer;
    assign s_axi_bresp   = response(write_address);
    assign s_axi_rvalid  = has_read_answer;
    assign s_axi_rresp   = response(read_address);
    assign s_axi_rdata   = registers[read_address[5:2]];
    integer i;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            random <= 16'hace1;
            {has_address, has_data, has_write_answer, has_read, has_read_answer} <= 0;
            for (i = 0; i < 16; i = i + 1) registers[i] <= 0;
        end else begin
            if (s_axi_awvalid || s_axi_wvalid || s_axi_arvalid || has_address || has_data || has_read)
                random <= {random[14:0], random[15] ^ random[13] ^ random[12] ^ random[10]};
            if (s_axi_awvalid && s_axi_awready) begin
                has_address   <= 1;
                write_address <= s_axi_awaddr;
            end
            if (s_axi_wvalid && s_axi_wready) begin
                has_data <= 1;
                data     <= s_axi_wdata;
                strobe   <= s_axi_wstrb;
            end
            if (has_address && has_data && !has_write_answer && random[7]) begin
                has_write_answer <= 1;
                for (i = 0; i < 4; i = i + 1)
                    if (strobe[i] && write_address[7:6] == 0) registers[write_address[5:2]][8*i +: 8] <= data[8*i +: 8];
            end
            if (s_axi_bvalid && s_axi_bready) {has_write_answer, has_address, has_data} <= 0;
            if (s_axi_arvalid && s_axi_arready) begin
                has_read     <= 1;
                read_address <= s_axi_araddr;
            end
            if (has_read && !has_read_answer && random[9]) has_read_answer <= 1;
            if (s_axi_rvalid && s_axi_rready) {has_read, has_read_answer} <= 0;
        end
endmodule
